"""Resumes a flow by posting its document to a URL, signed as Standard Webhooks describes.

One attempt each time: the outbox tries again. Proxies of the environment are not used and redirects are not followed,
because both would lead past the address that was checked. Not here: which URLs are allowed (`address`), connecting (`pinned`).
"""

import base64
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr
from standardwebhooks import Webhook

from bot import __version__
from bot.adapters.gitlab.failures import retry_after
from bot.adapters.targets.address import FIELD, Address, read, read_allowed
from bot.adapters.targets.pinned import Deadline, Line, Place, Resolve, connected, places
from bot.core.errors import ConfigError, Invalid, RateLimited, Refused, RemoteError, Unavailable
from bot.core.models import CallbackTarget as CallbackSpec
from bot.core.models import Run, TargetSpec
from bot.ports import Clock

READ_AT_MOST = 64 * 1024  # bytes of an answer
WORDS = 200  # characters of an answer that a message may hold
SHORTEST_SECRET = 24  # bytes, as Standard Webhooks asks for
_AGAIN = "it may have arrived all the same; the next attempt has the same webhook-id"


@dataclass(frozen=True)
class _Answer:
    status: int
    location: str
    retry_after: str
    body: bytes


class CallbackTarget:
    """Posts the document to `run.target.url`. May be shared between threads.

    `timeout` is for connecting, sending and the answer together. Looking up the name takes as long as the system lets it.
    """

    def __init__(
        self,
        allowed: Sequence[str],
        secret: SecretStr,
        *,
        allow_private: bool = False,
        timeout: float = 20.0,
        ca_file: Path | None = None,
        resolve: Resolve = socket.getaddrinfo,
        clock: Clock,
    ) -> None:
        """`allowed`: URLs below which flows may be called back. `ca_file`: instead of the system's authorities."""
        self._allowed = read_allowed(allowed)
        self._secret = secret
        self._webhook = _webhook(secret)
        self._allow_private = allow_private
        self._timeout = timeout
        self._ca_file = ca_file
        self._resolve = resolve
        self._clock = clock

    def check(self, spec: TargetSpec) -> None:
        """Raises `Invalid` for a URL that is never called; its code names the rule. Nothing is resolved or sent."""
        self._checked(_url(spec))

    def hand_over(self, run: Run, resume_id: str, document: bytes) -> None:
        """Returns after a 2xx. `webhook-id` is `resume_id`, so the receiver can tell a second time."""
        address = self._permitted(run)
        where = self._found(address)
        headers = self._headers(address, resume_id, document)
        deadline = Deadline(self._timeout)
        try:
            sock = connected(address, where, deadline, self._ca_file)
        except OSError as error:
            hint = f"no connection ({_said(error)}): check that it listens, and its certificate"
            raise _unavailable(address, hint, doubtful=False) from error
        with sock:
            try:
                answer = _exchange(address, Line(sock, deadline), headers, document)
            except TimeoutError as error:
                raise _unavailable(address, f"no answer in {self._timeout:g} s: answer first, then work") from error
            except OSError as error:
                raise _unavailable(address, f"the connection broke ({_said(error)}): check its log") from error
            except HTTPException as error:
                # Without its cause, which may be 64 kB of whatever answered.
                hint = f"the answer is not HTTP ({type(error).__name__}): check what listens there"
                raise _unavailable(address, hint) from None
        failure = self._failure(address, answer)
        if failure is not None:
            raise failure

    def _checked(self, url: str) -> Address:
        address = read(url)
        if not any(address.below(allowed) for allowed in self._allowed):
            raise Invalid(
                f"{FIELD}: {address} is not below an allowed callback URL: use one, or have it allowed in the configuration",
                field=FIELD,
                code="url_not_allowed",
            )
        return address

    def _permitted(self, run: Run) -> Address:
        """The address of the run; the rules may have changed since the run was started."""
        try:
            return self._checked(_url(run.target))
        except Invalid as error:
            raise Refused(f"{error.message}; nothing was sent for run {run.id}", code="callback_refused") from error

    def _found(self, address: Address) -> list[Place]:
        try:
            found = places(address, self._resolve)
        except OSError as error:
            hint = f"the host is not found ({_said(error)}): check its name, and the name server"
            raise _unavailable(address, hint, doubtful=False) from error
        inside = [place for place in found if not place.public]
        if inside and not self._allow_private:
            raise Refused(
                f"callback to {address}: {inside[0].sockaddr[0]} is not a public address, nothing was sent: "
                "use a public host, or allow private addresses in the configuration",
                code="callback_refused",
            )
        return found

    def _headers(self, address: Address, resume_id: str, document: bytes) -> dict[str, str]:
        now = self._clock.now().astimezone(UTC)
        return {
            "Host": address.authority,
            "Content-Type": "application/json",
            "User-Agent": f"gitlab-hitl-bot/{__version__}",
            "Connection": "close",
            "webhook-id": resume_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._webhook.sign(resume_id, now, document.decode("utf-8")),
        }

    def _failure(self, address: Address, answer: _Answer) -> RemoteError | None:
        """What the answer means; None when the flow has the document."""
        status = answer.status
        if 200 <= status < 300:
            return None
        said = f"{status}{self._words(answer.body)}"
        if status == 410:
            hint = "it is gone for good: hand over to another URL"
            return Refused(f"callback to {address}: {said}: {hint}", code="callback_refused")
        if status == 429:
            wait = retry_after({"Retry-After": answer.retry_after}, self._clock.now())
            asked = "does not say for how long" if wait is None else f"asks to wait {wait.total_seconds():.0f} s"
            limited = RateLimited(f"callback to {address}: {said}: too many requests, it {asked}", retry_after=wait)
            limited.code = "callback_rate_limited"
            return limited
        if 300 <= status < 400:
            hint = f"redirects are not followed (this one goes to {_destination(answer.location)}): use the final URL"
            return _unavailable(address, f"{said}: {hint}")
        return _unavailable(address, f"{said}: check its log; any 2xx takes the document, 410 ends the attempts")

    def _words(self, body: bytes) -> str:
        """What the receiver said, as one short line."""
        secret = self._secret.get_secret_value()
        text = body.decode("utf-8", "replace").replace(secret, "[secret]").replace(secret.removeprefix("whsec_"), "[secret]")
        line = _one_line(text)
        return f" ({line})" if line else ""


def _url(spec: TargetSpec) -> str:
    return spec.url if isinstance(spec, CallbackSpec) else ""


def _webhook(secret: SecretStr) -> Webhook:
    """The library skips what is not base64, and takes a key of one byte."""
    try:
        key = base64.b64decode(secret.get_secret_value().removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if len(key) < SHORTEST_SECRET:
        raise ConfigError(f"the callback secret must be base64 of at least {SHORTEST_SECRET} bytes (whsec_… is fine)")
    return Webhook(key)


def _exchange(address: Address, line: Line, headers: dict[str, str], document: bytes) -> _Answer:
    connection = HTTPConnection(address.host, address.port)
    connection.sock = line
    with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered without reading all
        connection.request("POST", address.target, body=document, headers=headers)
    response = connection.getresponse()
    body = b""
    with suppress(OSError, HTTPException):  # the status is the answer, the body only explains it
        body = response.read(READ_AT_MOST)
    found = response.headers
    return _Answer(response.status, found.get("Location", ""), found.get("Retry-After", ""), body)


def _unavailable(address: Address, hint: str, *, doubtful: bool = True) -> Unavailable:
    error = Unavailable(f"callback to {address}: {hint}{f'; {_AGAIN}' if doubtful else ''}", doubtful=doubtful)
    error.code = "callback_unavailable"
    return error


def _destination(location: str) -> str:
    """Where a redirect goes, without a password or query."""
    try:
        parts = urlsplit(location)
    except ValueError:
        return "an unreadable place"
    host = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
    return _one_line(host + parts.path) or "nowhere"


def _said(error: OSError) -> str:
    return _one_line(str(error)) or type(error).__name__


def _one_line(text: str) -> str:
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= WORDS else f"{line[: WORDS - 1]}…"
