"""What asking whose token it is promises: a person or a clear no, and no trace of the token."""

import logging
import traceback
from collections.abc import Iterator

import pytest
import requests
import responses

from bot.adapters.gitlab.people import TokenPeople
from bot.core.eligibility import Account
from bot.core.errors import HitlError, NotPermitted, RateLimited, RemoteError, Unauthenticated, Unavailable
from bot.ports import People

URL = "https://gitlab.example.com"
USER = f"{URL}/api/v4/user"
TOKEN = "glpat-this-is-danas"


@pytest.fixture
def gitlab() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def people() -> People:
    return TokenPeople(URL, sleep=lambda _: None)


def test_a_good_token_is_somebody(gitlab: responses.RequestsMock, people: People) -> None:
    """GitLab says whose token it is; personal and OAuth tokens both travel as a bearer, with a timeout."""
    gitlab.get(USER, json={"id": 201, "username": "dana", "name": "Dana R", "state": "active", "bot": False})
    assert people.who(TOKEN) == Account(201, "dana", "Dana R")
    assert gitlab.calls[0].request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert gitlab.calls[0].request.req_kwargs["timeout"] == 20.0


def test_every_call_asks_anew(gitlab: responses.RequestsMock, people: People) -> None:
    """Nothing is kept: a token that was revoked since is refused at once."""
    gitlab.get(USER, json={"id": 201, "username": "dana"})
    gitlab.get(USER, status=401, json={"message": "401 Unauthorized"})
    assert people.who(TOKEN).id == 201
    with pytest.raises(Unauthenticated):
        people.who(TOKEN)


def test_a_refused_token_is_unauthenticated(gitlab: responses.RequestsMock, people: People) -> None:
    """401 means the caller has no valid credential, and says what to make instead."""
    gitlab.get(USER, status=401, json={"error": "invalid_token"})
    with pytest.raises(Unauthenticated, match="scope `read_api`"):
        people.who(TOKEN)


@pytest.mark.parametrize(
    ("status", "kind"), [(403, NotPermitted), (429, RateLimited), (500, Unavailable), (503, Unavailable), (404, RemoteError)]
)
def test_other_failures_are_not_a_no(
    gitlab: responses.RequestsMock, people: People, status: int, kind: type[HitlError]
) -> None:
    """When GitLab cannot say whose token it is, that is not the caller's fault."""
    gitlab.get(USER, status=status)
    with pytest.raises(kind):
        people.who(TOKEN)


def test_no_answer_is_unavailable(gitlab: responses.RequestsMock, people: People) -> None:
    """A GitLab that does not answer is `Unavailable` after a few tries."""
    gitlab.get(USER, body=requests.ReadTimeout("slow"))
    with pytest.raises(Unavailable):
        people.who(TOKEN)
    assert len(gitlab.calls) == 3


@pytest.mark.parametrize("token", ["hitl_0123456789abcdef", "", "two words", "glpat-\r\nX-Admin: 1", "glpat-ü"])
def test_what_is_no_gitlab_token_is_not_sent(gitlab: responses.RequestsMock, people: People, token: str) -> None:
    """A flow's key is never shown to GitLab, and nothing that cannot be a token is tried or repeated."""
    with pytest.raises(Unauthenticated) as caught:
        people.who(token)
    assert len(gitlab.calls) == 0
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize("status", [200, 401, 403, 500])
def test_the_token_leaves_no_trace(
    gitlab: responses.RequestsMock, people: People, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """No message, traceback, log line or attribute holds the token, even when GitLab echoes it."""
    caplog.set_level(logging.DEBUG)
    gitlab.get(USER, status=status, json={"message": f"so you have {TOKEN}"})
    with pytest.raises(HitlError) as caught:
        people.who(TOKEN)
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    assert TOKEN not in caplog.text + repr(people) + repr(vars(people))
