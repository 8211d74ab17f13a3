"""How failures of GitLab are named: which error, in what words, what is in doubt, and that the token is in none of it."""

import socket
import ssl
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
import requests
import responses
from pydantic import SecretStr

from bot.adapters.gitlab.connection import Connection
from bot.adapters.gitlab.failures import retry_after
from bot.core.errors import Gone, NotPermitted, RateLimited, Refused, RemoteError, TokenRefused, Unavailable
from bot.testing.clock import START, MovableClock

URL = "https://gitlab.example.com"
API = f"{URL}/api/v4"
TOKEN = "glpat-do-not-tell-anybody"
NOTES = "/projects/77/issues/12/notes"
TOO_MANY = {"message": {"error": "This endpoint has been requested too many times. Try again later."}}


@pytest.fixture
def gitlab() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@dataclass
class Line:
    """A connection whose sleeps are recorded and whose jitter is the middle."""

    url: str = URL
    slept: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = Connection(
            self.url, SecretStr(TOKEN), sleep=self.slept.append, jitter=lambda: 0.5, clock=MovableClock()
        )

    def read(self, path: str = "/version") -> Any:
        return self.connection.call("GET", path, write=False, about="project group/project").data

    def write(self) -> Any:
        return self.connection.call("POST", NOTES, write=True, about="project group/project", body={"body": "x"}).data


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.mark.parametrize("failure", [requests.ReadTimeout("slow"), requests.ConnectionError("cut")])
def test_unanswered_writes_are_doubtful(gitlab: responses.RequestsMock, line: Line, failure: Exception) -> None:
    """A write without an answer may have happened, and is not sent again."""
    gitlab.post(f"{API}{NOTES}", body=failure)
    with pytest.raises(Unavailable) as caught:
        line.write()
    assert caught.value.doubtful
    assert len(gitlab.calls) == 1


def test_a_write_cut_off_by_the_server_is_doubtful() -> None:
    """A connection that ends after the request was sent leaves a write in doubt."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def cut() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65_536)

        cutting = Thread(target=cut)
        cutting.start()
        with pytest.raises(Unavailable) as caught:
            Line(f"http://127.0.0.1:{server.getsockname()[1]}").write()
        cutting.join()
    assert caught.value.doubtful


def test_a_write_nobody_took_is_not_doubtful() -> None:
    """When nobody listens, nothing was sent, so the write can simply be tried later."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unavailable, match=r"check gitlab\.url") as caught:
        Line(f"http://127.0.0.1:{port}").write()
    assert not caught.value.doubtful


def test_an_older_failure_does_not_take_the_doubt_away(gitlab: responses.RequestsMock, line: Line) -> None:
    """A write sent while another error is being handled is judged by its own error only."""
    gitlab.post(f"{API}{NOTES}", body=requests.ConnectionError("cut"))
    try:
        raise ConnectionRefusedError
    except ConnectionRefusedError:
        with pytest.raises(Unavailable) as caught:
            line.write()
    assert caught.value.doubtful


@pytest.mark.parametrize("failure", [requests.ConnectTimeout("slow"), requests.exceptions.ProxyError("no")])
def test_writes_that_never_left_are_not_doubtful(gitlab: responses.RequestsMock, line: Line, failure: Exception) -> None:
    """A write stopped while connecting did not happen."""
    gitlab.post(f"{API}{NOTES}", body=failure)
    with pytest.raises(Unavailable) as caught:
        line.write()
    assert not caught.value.doubtful


@pytest.mark.parametrize(
    ("failure", "doubtful"),
    [
        (requests.exceptions.SSLError(ssl.SSLCertVerificationError("self-signed certificate")), False),
        (requests.exceptions.SSLError("decryption failed"), True),
    ],
)
def test_insecure_connections(
    gitlab: responses.RequestsMock, line: Line, failure: requests.exceptions.SSLError, doubtful: bool
) -> None:
    """A certificate that does not hold stops a write before it is sent, and the message says what to set."""
    gitlab.post(f"{API}{NOTES}", body=failure)
    with pytest.raises(Unavailable, match=r"gitlab\.ca_file") as caught:
        line.write()
    assert caught.value.doubtful is doubtful


def test_dates_without_a_zone_are_utc() -> None:
    """An HTTP date that leaves its zone open is read as UTC."""
    headers = {"Retry-After": "Mon, 02 Mar 2026 09:10:00 -0000"}
    assert retry_after(headers, START) == timedelta(minutes=10)


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("30", timedelta(seconds=30)),
        ("3600", timedelta(hours=1)),
        ("Mon, 02 Mar 2026 09:10:00 GMT", timedelta(minutes=10)),
        ("Mon, 02 Mar 2026 08:00:00 GMT", timedelta(0)),
        ("soon", None),
        ("99999999999999999999999999", None),
        (None, None),
    ],
)
def test_rate_limits_are_told(gitlab: responses.RequestsMock, line: Line, header: str | None, asked: timedelta | None) -> None:
    """A 429 of a write is raised at once with the wait GitLab asked for, None when it did not say (case B44)."""
    headers = {} if header is None else {"Retry-After": header}
    gitlab.post(f"{API}{NOTES}", status=429, json=TOO_MANY, headers=headers)
    with pytest.raises(RateLimited, match="too many requests") as caught:
        line.write()
    told = caught.value.retry_after
    assert told == asked or (told is not None and asked is not None and asked - told < timedelta(seconds=1))
    assert not caught.value.doubtful
    assert len(gitlab.calls) == 1
    assert line.slept == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused),
        (401, TokenRefused),
        (403, NotPermitted),
        (404, Gone),
        (405, Refused),
        (409, Refused),
        (422, Refused),
        (500, Unavailable),
    ],
)
def test_statuses_are_told_apart(gitlab: responses.RequestsMock, line: Line, status: int, kind: type[RemoteError]) -> None:
    """Each status has its error, which names the request, the project and GitLab's reason, and keeps the cause."""
    gitlab.post(f"{API}{NOTES}", status=status, json={"message": f"{status} because"})
    with pytest.raises(RemoteError) as caught:
        line.write()
    assert type(caught.value) is kind
    for part in ("POST", NOTES, "group/project", f"{status} because"):
        assert part in caught.value.message
    assert caught.value.__cause__ is not None


def test_messages_hold_one_short_line_of_the_answer(gitlab: responses.RequestsMock, line: Line) -> None:
    """Of a long answer at most 200 characters are repeated, of an HTML error page none."""
    gitlab.get(f"{API}/long", status=400, json={"message": "m" * 5_000})
    gitlab.get(f"{API}/html", status=400, body="<html>\n<body>" + "h" * 5_000)
    with pytest.raises(Refused) as long:
        line.read("/long")
    with pytest.raises(Refused) as html:
        line.read("/html")
    assert long.value.message.count("m" * 199) == 1
    assert len(long.value.message) < 400
    assert "html>" not in html.value.message


@pytest.mark.parametrize("status", [200, 201])
def test_what_is_not_json_is_no_answer(gitlab: responses.RequestsMock, line: Line, status: int) -> None:
    """A login page in place of an answer is `Unavailable`, and leaves a write in doubt."""
    gitlab.get(f"{API}/version", status=status, body="<html>Sign in</html>", content_type="text/html")
    gitlab.post(f"{API}{NOTES}", status=status, body="<html>Sign in</html>", content_type="text/html")
    with pytest.raises(Unavailable, match="login page") as read:
        line.read()
    with pytest.raises(Unavailable, match="login page") as write:
        line.write()
    assert (read.value.doubtful, write.value.doubtful) == (False, True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 429, 500, 200])
def test_the_token_is_in_no_text(gitlab: responses.RequestsMock, line: Line, status: int) -> None:
    """Neither messages, tracebacks nor representations hold the token, even when GitLab echoes it."""
    gitlab.post(f"{API}{NOTES}", status=status, body=f"who sent {TOKEN}?")
    with pytest.raises(RemoteError) as caught:
        line.write()
    error = caught.value
    assert TOKEN not in f"{error} {error!r} {line.connection} {line.connection!r} {vars(line.connection)}"
    assert TOKEN not in "".join(traceback.format_exception(error))


def test_the_clock_starts_where_the_dates_above_expect_it() -> None:
    """The HTTP dates in this module count from the test clock's start."""
    assert START.isoformat() == "2026-03-02T09:00:00+00:00"
