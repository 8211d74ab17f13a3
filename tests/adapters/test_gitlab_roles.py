"""Who somebody is in a project: which endpoint is asked, how old an answer may be, and what a failure is not."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
import responses
from pydantic import SecretStr

from bot.adapters.gitlab.connection import Connection
from bot.adapters.gitlab.project import ProjectGateway
from bot.core.eligibility import Account, Membership
from bot.core.errors import NotPermitted, RateLimited, Unavailable
from bot.testing.clock import MovableClock

URL = "https://gitlab.example.com"
API = f"{URL}/api/v4"
DANA = {"id": 201, "username": "dana", "name": "Dana R", "state": "active"}


def path_of(call: responses.Call) -> str:
    return f"{call.request.method} {(call.request.url or '').removeprefix(API)}"


@pytest.fixture
def gitlab() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.get(f"{API}/projects/acme%2Fplatform%2Fapi", json={"id": 77, "path_with_namespace": "acme/platform/api"})
        yield mock


@pytest.fixture
def gateway(clock: MovableClock) -> ProjectGateway:
    connection = Connection(URL, SecretStr("glpat-x"), sleep=lambda _: None, clock=clock)
    return ProjectGateway(connection, "acme/platform/api", clock=clock)


def test_inherited_roles_count(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A role through an invited group is found, and the direct-only endpoint, which answers 404, is not asked (B22)."""
    gitlab.get(f"{API}/projects/77/members/201", status=404, json={"message": "404 Not found"})
    gitlab.get(f"{API}/projects/77/members/all/201", json={"id": 201, "access_level": 30, "state": "active"})
    assert gateway.membership(201) == Membership(role=30, state="active", membership_state="active", expires_at=None)
    assert [path_of(call) for call in gitlab.calls][1:] == ["GET /projects/77/members/all/201"]


def test_no_membership_is_none(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """404 from `members/all` is no membership, and is kept like one."""
    gitlab.get(f"{API}/projects/77/members/all/777", status=404, json={"message": "404 Not found"})
    assert gateway.membership(777) is None
    assert gateway.membership(777) is None
    assert len(gitlab.calls) == 2


def test_awaiting_and_expiring_members_are_told(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """GitLab lists members who wait for approval or have expired: state and date come along to be judged."""
    listed = {"access_level": 30, "state": "active", "membership_state": "awaiting", "expires_at": "2026-12-31"}
    gitlab.get(f"{API}/projects/77/members/all/201", json=listed)
    assert gateway.membership(201) == Membership(30, "active", "awaiting", date(2026, 12, 31))


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (500, Unavailable), (403, NotPermitted)])
def test_a_failed_role_check_is_not_a_no(
    gitlab: responses.RequestsMock, gateway: ProjectGateway, status: int, kind: type[Exception]
) -> None:
    """A role that could not be looked up is raised, so that the answer waits and is not refused (B44 d)."""
    gitlab.get(f"{API}/projects/77/members/all/201", status=status)
    with pytest.raises(kind):
        gateway.membership(201)


def test_roles_are_a_minute_old_at_most(gitlab: responses.RequestsMock, gateway: ProjectGateway, clock: MovableClock) -> None:
    """A role is kept for a minute, asked again after that, and at once when it must be fresh."""
    for level in (10, 15, 20):
        gitlab.get(f"{API}/projects/77/members/all/201", json={"access_level": level, "state": "active"})

    def role(*, fresh: bool = False) -> int:
        found = gateway.membership(201, fresh=fresh)
        assert found is not None
        return found.role

    assert (role(), role()) == (10, 10)
    clock.move(seconds=59)
    assert role() == 10
    clock.move(seconds=1)
    assert (role(), role()) == (15, 15)
    assert (role(fresh=True), role()) == (20, 20)


def test_accounts_are_five_minutes_old_at_most(
    gitlab: responses.RequestsMock, gateway: ProjectGateway, clock: MovableClock
) -> None:
    """An account says who is a bot and who is blocked; it is kept for five minutes."""
    gitlab.get(f"{API}/users/201", json={**DANA, "bot": True, "is_admin": True})
    gitlab.get(f"{API}/users/201", json={**DANA, "state": "blocked"})
    assert gateway.account(201) == Account(201, "dana", "Dana R", "active", bot=True, admin=True)
    assert gateway.account(201).bot
    clock.move(minutes=5)
    assert gateway.account(201) == Account(201, "dana", "Dana R", "blocked", bot=False, admin=False)


def test_accounts_are_found_by_exact_name(gitlab: responses.RequestsMock, gateway: ProjectGateway) -> None:
    """A username is found whatever its case, never by a part of it, and with what only the full account says."""
    match = [responses.matchers.query_param_matcher({"username": "DANA"})]
    gitlab.get(f"{API}/users", json=[{**DANA, "id": 5, "username": "dana2"}, DANA], match=match)
    gitlab.get(f"{API}/users/201", json={**DANA, "bot": True})
    found = gateway.find_account("DANA")
    assert found == Account(201, "dana", "Dana R", bot=True)


@pytest.mark.parametrize("rows", [[], [{**DANA, "username": "dana2"}]])
def test_nobody_of_that_name_is_none(
    gitlab: responses.RequestsMock, gateway: ProjectGateway, rows: list[dict[str, Any]]
) -> None:
    """A name nobody has exactly is None."""
    gitlab.get(f"{API}/users", json=rows)
    assert gateway.find_account("dana") is None
