"""Which URLs a flow may be called back at: how one is read, and when it stands below an allowed one.

Pure: nothing is resolved and nothing is sent here (`pinned`, `callback`). Whatever two programs might read differently is
refused, because the program that answers decides by its own reading. Messages never repeat the URL: it may hold a password.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from bot.core.errors import ConfigError, Invalid

FIELD = "resume.url"
LONGEST = 2000  # characters of a URL
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_PATH = re.compile(r"(?:/(?:[!-$&-~]|%[0-9A-Fa-f]{2})*)?")
_QUERY = re.compile(r"[!-~]*")
_READ_TWO_WAYS = frozenset("ßẞς\u200c\u200d")  # IDNA 2003 and 2008 make different names of these


@dataclass(frozen=True)
class Address:
    """A URL taken apart. `host` is ASCII in lower case, `target` the path and query as they are sent."""

    scheme: str
    host: str
    port: int
    target: str
    segments: tuple[bytes, ...]

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL and in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        """For people: without the query, which may hold a secret."""
        return f"{self.scheme}://{self.authority}{self.target.partition('?')[0]}"

    def below(self, allowed: "Address") -> bool:
        """True for the allowed URL itself and for what has more path segments."""
        same_server = (self.scheme, self.host, self.port) == (allowed.scheme, allowed.host, allowed.port)
        return same_server and self.segments[: len(allowed.segments)] == allowed.segments


def read(url: str) -> Address:
    """`url` taken apart. Raises `Invalid`, whose code names the rule."""
    if len(url) > LONGEST or re.search(r"[\x00-\x20\x7f\\]", url):
        raise _invalid("url_unusable", f"at most {LONGEST} characters, and no space, control character or backslash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _invalid("url_unusable", "not a URL: check its host and port") from error
    if parts.scheme not in _PORTS:
        raise _invalid("url_scheme", "only http:// and https:// can be called back")
    if "@" in parts.netloc:
        raise _invalid("url_credentials", "no user name or password in the URL: the signature says who calls")
    if "#" in url:
        raise _invalid("url_fragment", "no fragment (#…): it is never sent")
    if port == 0:
        raise _invalid("url_unusable", "port 0 cannot be called")
    if not _QUERY.fullmatch(parts.query):
        raise _invalid("url_unusable", "the query must be percent-encoded ASCII")
    return Address(
        scheme=parts.scheme,
        host=_host(parts),
        port=port or _PORTS[parts.scheme],
        target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        segments=_segments(parts.path),
    )


def read_allowed(urls: Sequence[str]) -> tuple[Address, ...]:
    """The URLs below which flows may be called back, as configured. Raises `ConfigError`."""
    allowed = []
    for place, url in enumerate(urls, 1):
        try:
            address = read(url)
        except Invalid as error:
            raise ConfigError(f"allowed callback URL number {place}: {error.message}") from error
        if "?" in url:
            raise ConfigError(f"allowed callback URL number {place}: leave the query out, only the path is compared")
        allowed.append(address)
    return tuple(allowed)


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    try:
        if ":" in name and "%" not in name:
            return IPv6Address(name).compressed
        host = name.encode("idna").decode("ascii").casefold()
    except ValueError as error:
        raise _invalid("url_unusable", "the host is not a name or an address") from error
    if "[" in parts.netloc or _READ_TWO_WAYS & set(name) or not _HOST.fullmatch(host):
        raise _invalid("url_unusable", "the host is not a plain name or address: write it in ASCII (xn--…), without a last dot")
    return host


def _segments(path: str) -> tuple[bytes, ...]:
    """The decoded path segments, without empty ones at the end."""
    if not _PATH.fullmatch(path):
        raise _invalid("url_unusable", "the path must be percent-encoded ASCII")
    sent = path.encode("ascii")
    plain = sent
    while (further := unquote_to_bytes(plain)) != plain:  # a server may sit behind a proxy that decodes as well
        plain = further
    if plain.count(b"/") != sent.count(b"/") or re.search(rb"[\x00-\x1f\x7f\\]", plain):
        raise _invalid("url_path", "no encoded slash, backslash or control character in the path")
    if any(segment.partition(b";")[0] in (b".", b"..") for segment in plain.split(b"/")):
        raise _invalid("url_path", "no . or .. segment in the path, encoded or not")
    segments = [unquote_to_bytes(segment) for segment in sent.split(b"/")[1:]]
    while segments and not segments[-1]:
        segments.pop()
    return tuple(segments)


def _invalid(code: str, message: str) -> Invalid:
    return Invalid(f"{FIELD}: {message}", field=FIELD, code=code)
