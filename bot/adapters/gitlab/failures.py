"""What went wrong, in our words: exceptions of python-gitlab and requests become `bot.core.errors` here and nowhere else.

Messages say what was tried, for which project, and what to do; they hold neither the token nor more than a line of what
GitLab said. Not here: trying again (`connection`), or what an error means for a run (`core.retries`).
"""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import gitlab
import requests
from pydantic import SecretStr

from bot.core.errors import Gone, NotPermitted, RateLimited, Refused, RemoteError, TokenRefused, Unavailable

FAILURES = (gitlab.GitlabError, requests.RequestException)
PROJECT_GONE = "gitlab_project_not_found"
WORDS = 200  # characters of GitLab's answer that a message may hold

_TRANSPORT = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)
# Only ever raised before a request leaves: no such name, nobody listening, a certificate that does not hold.
_BEFORE_SENDING = (socket.gaierror, ConnectionRefusedError, ssl.SSLCertVerificationError)
_DOUBT = "; it may have happened all the same, so look before doing it again"


@dataclass(frozen=True)
class Tried:
    """A request, as far as people need to read of it. `about` names the project, or what else it was for."""

    method: str
    path: str
    about: str
    write: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path} ({self.about})"


def translated(error: Exception, tried: Tried, *, headers: Mapping[str, str], now: datetime, token: SecretStr) -> RemoteError:
    """The error to raise for one of `FAILURES`. `headers` are those of the last answer, empty when there was none."""
    if isinstance(error, gitlab.GitlabParsingError):
        return _unavailable(
            tried, "the answer is not the JSON of GitLab: check gitlab.url, and whether a login page or proxy answers there"
        )
    if isinstance(error, gitlab.GitlabError) and error.response_code is not None:
        return _by_status(error.response_code, _words(error, token), tried, headers, now)
    if isinstance(error, _TRANSPORT):
        return _no_answer(error, tried)
    # What is left was not carried out: a redirect away from the instance, a redirected write, an unusable address or proxy.
    return Refused(f"{tried}: GitLab is not at this address ({type(error).__name__}): correct gitlab.url or gitlab.proxy")


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The wait a 429 asks for, in seconds or as an HTTP date; None when it does not say (contract section 4)."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return timedelta(seconds=int(text))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(until - now, timedelta(0))


def _by_status(status: int, words: str, tried: Tried, headers: Mapping[str, str], now: datetime) -> RemoteError:
    said = words if words.startswith(str(status)) else f"{status}: {words}".removesuffix(": ")
    if status == 401:
        return TokenRefused(f"{tried}: GitLab refuses the token ({said}): wrong, expired or revoked; configure a valid one")
    if status == 403:
        return NotPermitted(
            f"{tried}: not permitted ({said}): the token needs scope `api` (`read_api` to read), its user the project role"
        )
    if status == 404:
        message = f"{tried}: not found, or not visible to the token ({said}): check that it exists and its user may see it"
        return Gone(message, code=PROJECT_GONE if words == "404 Project Not Found" else None)
    if status == 429:
        wait = retry_after(headers, now)
        asked = "did not say for how long" if wait is None else f"asks to wait {wait.total_seconds():.0f} s"
        return RateLimited(f"{tried}: too many requests ({said}), GitLab {asked}: try again after that", retry_after=wait)
    if status >= 500 or status == 408:  # 408 is a timeout that somebody on the way noticed
        return _unavailable(tried, f"GitLab failed ({said}): try again later")
    return Refused(f"{tried}: GitLab does not accept this request ({said}): correct what it names")


def _no_answer(error: Exception, tried: Tried) -> Unavailable:
    if isinstance(error, requests.exceptions.SSLError):
        hint = "no secure connection: check the certificate, or set gitlab.ca_file to the authority that signed it"
    elif isinstance(error, requests.exceptions.ProxyError):
        hint = "the proxy does not let this through: check gitlab.proxy, or HTTPS_PROXY in the environment"
    elif isinstance(error, requests.Timeout):
        hint = "no answer in time: try again later, and check that gitlab.url can be reached from here"
    else:
        hint = f"no connection, or it broke ({type(error).__name__}): try again later, and check gitlab.url"
    nothing_sent = isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError) or any(
        isinstance(cause, _BEFORE_SENDING) for cause in _causes(error)
    )
    return _unavailable(tried, hint, nothing_sent=nothing_sent)


def _unavailable(tried: Tried, hint: str, *, nothing_sent: bool = False) -> Unavailable:
    doubtful = tried.write and not nothing_sent
    return Unavailable(f"{tried}: {hint}{_DOUBT if doubtful else ''}", doubtful=doubtful)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was made from. Not `__context__`: that may hold an older failure the caller was handling."""
    yield error
    for inner in (error.__cause__, *error.args):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _words(error: gitlab.GitlabError, token: SecretStr) -> str:
    """What GitLab said, as one short line; error pages in HTML say nothing worth repeating."""
    said: object = error.error_message
    text = " ".join((said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).split())
    if text.startswith("<"):
        return ""
    text = text.replace(token.get_secret_value(), "[token]")
    return text if len(text) <= WORDS else f"{text[: WORDS - 1]}…"
