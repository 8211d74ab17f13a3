"""What the way to GitLab promises: what is tried again, what never is, and how long lists are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests
import responses
from pydantic import SecretStr

from bot.adapters.gitlab.connection import Connection
from bot.core.errors import RateLimited, Unavailable
from bot.testing.clock import MovableClock

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


def test_answers_are_plain_json(gitlab: responses.RequestsMock, line: Line) -> None:
    """A read returns the JSON as it came, and the token travels as a bearer."""
    gitlab.get(f"{API}/version", json={"version": "19.0"})
    assert line.read() == {"version": "19.0"}
    assert gitlab.calls[0].request.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_reads_survive_a_short_failure(gitlab: responses.RequestsMock, line: Line, status: int) -> None:
    """A read that fails with 5xx is tried again, waiting longer each time."""
    gitlab.get(f"{API}/version", status=status)
    gitlab.get(f"{API}/version", status=status)
    gitlab.get(f"{API}/version", json={"version": "19.0"})
    assert line.read() == {"version": "19.0"}
    assert line.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    "failure", [502, requests.ReadTimeout("slow"), requests.ConnectionError("cut"), requests.exceptions.ChunkedEncodingError()]
)
def test_reads_are_given_up(gitlab: responses.RequestsMock, line: Line, failure: int | Exception) -> None:
    """After three tries a failing read is `Unavailable`, and nothing is in doubt."""
    if isinstance(failure, int):
        gitlab.get(f"{API}/version", status=failure)
    else:
        gitlab.get(f"{API}/version", body=failure)
    with pytest.raises(Unavailable) as caught:
        line.read()
    assert len(gitlab.calls) == 3
    assert not caught.value.doubtful


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_writes_are_never_repeated(gitlab: responses.RequestsMock, line: Line, status: int) -> None:
    """A failed write is sent exactly once and is doubtful: GitLab may have stored the note before it failed."""
    gitlab.post(f"{API}{NOTES}", status=status)
    with pytest.raises(Unavailable, match="look before doing it again") as caught:
        line.write()
    assert caught.value.doubtful
    assert len(gitlab.calls) == 1
    assert line.slept == []


def test_short_rate_limits_are_waited_for(gitlab: responses.RequestsMock, line: Line) -> None:
    """A read told to wait five seconds or less waits as long as it was told, once."""
    gitlab.get(f"{API}/version", status=429, headers={"Retry-After": "4"})
    gitlab.get(f"{API}/version", json={"version": "19.0"})
    assert line.read() == {"version": "19.0"}
    assert line.slept == [4.0]


def test_short_rate_limits_are_waited_for_once(gitlab: responses.RequestsMock, line: Line) -> None:
    """A second 429 in a row is raised, so that no thread waits on and on."""
    gitlab.get(f"{API}/version", status=429, headers={"Retry-After": "1"})
    with pytest.raises(RateLimited):
        line.read()
    assert len(gitlab.calls) == 2


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "30"}, {"Retry-After": "3600"}])
def test_long_rate_limits_hold_no_thread(gitlab: responses.RequestsMock, line: Line, headers: dict[str, str]) -> None:
    """A read told to wait long, or not told how long, is raised without sleeping (case B44 c)."""
    gitlab.get(f"{API}/version", status=429, body="Retry later", headers=headers)
    with pytest.raises(RateLimited):
        line.read()
    assert line.slept == []


def test_pages_are_followed_one_at_a_time(gitlab: responses.RequestsMock, line: Line) -> None:
    """A list of three pages is read whole and in order, 100 a page, and no page before it is needed."""
    for number in (1, 2, 3):
        link = {"Link": f'<{API}/rows?page={number + 1}&per_page=100>; rel="next"'} if number < 3 else {}
        query = {"per_page": "100"} if number == 1 else {"per_page": "100", "page": str(number)}
        match = [responses.matchers.query_param_matcher(query)]
        gitlab.get(f"{API}/rows", json=[number * 10, number * 10 + 1], headers=link, match=match)
    rows = line.connection.pages("/rows", about="project group/project")
    assert [next(rows), next(rows)] == [10, 11]
    assert len(gitlab.calls) == 1
    assert list(rows) == [20, 21, 30, 31]
    assert len(gitlab.calls) == 3


def test_a_failing_page_is_tried_again(gitlab: responses.RequestsMock, line: Line) -> None:
    """A page that fails for a moment is neither lost nor read twice."""
    gitlab.get(f"{API}/rows", json=[1, 2], headers={"Link": f'<{API}/rows?page=2>; rel="next"'})
    gitlab.get(f"{API}/rows", status=502)
    gitlab.get(f"{API}/rows", json=[3])
    assert list(line.connection.pages("/rows", about="project group/project")) == [1, 2, 3]


def test_an_unreadable_page_is_not_skipped(gitlab: responses.RequestsMock, line: Line) -> None:
    """A page that is not a list ends the reading with an error: rows are never left out silently."""
    first = {"Link": f'<{API}/rows?page=2>; rel="next"'}
    gitlab.get(f"{API}/rows", json=[1], headers=first)
    gitlab.get(f"{API}/rows", body="<html>", headers={"Link": f'<{API}/rows?page=3>; rel="next"'})
    gitlab.get(f"{API}/rows", json=[3])
    rows = line.connection.pages("/rows", about="project group/project")
    assert next(rows) == 1
    with pytest.raises(Unavailable):
        next(rows)
    gitlab.get(f"{API}/object", json={"message": "not a list"})
    with pytest.raises(Unavailable):
        list(line.connection.pages("/object", about="project group/project"))
