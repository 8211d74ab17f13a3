"""What becomes of GitLab's JSON: full answers, lean ones of older versions, and answers that are something else."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from bot.adapters.gitlab import parse
from bot.core.eligibility import Account, Membership
from bot.core.errors import Unavailable
from bot.core.models import Person
from bot.core.thread import Item, Note

PAGE = "https://gitlab.example.com/g/p/-/issues/12"
DANA = {"id": 201, "username": "dana", "name": "Dana R"}
LEAN = {"id": 9, "author": DANA, "created_at": "2026-11-03T09:00:00Z"}
FULL = {
    **LEAN,
    "type": "DiscussionNote",
    "body": "B\n\n<!-- hitl:1 {} -->",
    "updated_at": "2026-11-03T10:00:00.250+01:00",
    "system": True,
    "internal": True,
    "resolvable": True,
    "resolved": True,
    "resolved_by": DANA,
}
ISSUE = {"iid": 12, "title": "Choose", "author": DANA, "state": "opened", "confidential": False}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2015-05-17 17:06:40 UTC", datetime(2015, 5, 17, 17, 6, 40, tzinfo=UTC)),
        ("2026-11-03T09:00:01.250Z", datetime(2026, 11, 3, 9, 0, 1, 250_000, tzinfo=UTC)),
        ("2026-11-03T09:00:01+02:00", datetime(2026, 11, 3, 7, 0, 1, tzinfo=UTC)),
        ("2026-11-03T09:00:01", datetime(2026, 11, 3, 9, 0, 1, tzinfo=UTC)),
    ],
)
def test_both_ways_to_write_a_time(text: str, moment: datetime) -> None:
    """Times of either format become the same kind of value, in UTC."""
    assert parse.moment(text) == moment
    assert parse.moment(text).tzinfo is UTC


def test_a_full_note() -> None:
    """Everything a note says is taken over, its text as stored, hidden comment included."""
    assert parse.note(FULL, PAGE) == Note(
        id=9,
        author=Person(id=201, username="dana", name="Dana R"),
        body="B\n\n<!-- hitl:1 {} -->",
        created_at=datetime(2026, 11, 3, 9, tzinfo=UTC),
        updated_at=datetime(2026, 11, 3, 9, 0, 0, 250_000, tzinfo=UTC),
        url=f"{PAGE}#note_9",
        system=True,
        internal=True,
        resolvable=True,
        resolved=True,
    )


def test_a_lean_note() -> None:
    """Fields an older version leaves out, or sends as null, have their ordinary meaning."""
    for note in (parse.note(LEAN, PAGE), parse.note({**dict.fromkeys(FULL), **LEAN}, PAGE)):
        assert (note.body, note.updated_at) == ("", note.created_at)
        assert (note.system, note.internal, note.resolvable, note.resolved) == (False, False, False, False)


def test_internal_under_its_older_name() -> None:
    """A note is internal when either the new or the old field says so."""
    assert parse.note({**LEAN, "confidential": True}, PAGE).internal
    assert parse.note({**LEAN, "internal": False, "confidential": True}, PAGE).internal


def test_a_note_of_nobody_counts_for_nobody() -> None:
    """A note without an author does not make its thread unreadable; no account has its author's id."""
    assert parse.note({**LEAN, "author": None}, PAGE).author.id == 0


def test_a_thread_is_resolved_by_its_notes() -> None:
    """The state of a thread comes from its notes, whatever newer versions say of it."""
    open_note, resolved = {**LEAN, "resolvable": True}, {**LEAN, "resolvable": True, "resolved": True}
    assert parse.thread({"id": "ab", "notes": [resolved, resolved]}, PAGE).resolved
    assert not parse.thread({"id": "ab", "resolved": True, "notes": [resolved, open_note]}, PAGE).resolved
    assert not parse.thread({"id": "ab", "notes": [LEAN]}, PAGE).resolved


def test_a_full_item() -> None:
    """An item knows its people by id, its type, and whether it was moved."""
    data = {
        **ISSUE,
        "description": "text",
        "assignees": [DANA, {"id": 7, "username": "x"}],
        "issue_type": "incident",
        "confidential": True,
        "moved_to_id": 5,
        "web_url": f"{PAGE}?",
    }
    assert parse.item(data, PAGE) == Item(12, "Choose", "text", f"{PAGE}?", 201, (201, 7), "opened", "incident", True, True)


def test_a_lean_item() -> None:
    """An item without description, assignees or type is an ordinary issue, at the address we know."""
    for data in (ISSUE, {**ISSUE, "description": None, "assignees": None, "issue_type": None, "moved_to_id": None}):
        assert parse.item(data, PAGE) == Item(12, "Choose", "", PAGE, 201, (), "opened", "issue", False, False)


@pytest.mark.parametrize(
    ("data", "membership"),
    [
        ({"access_level": 15}, Membership(15)),
        ({"access_level": 27, "state": "blocked"}, Membership(27, "blocked")),
        ({"access_level": 30, "membership_state": "awaiting"}, Membership(30, "active", "awaiting")),
        ({"access_level": 30, "membership_state": None, "expires_at": None}, Membership(30)),
        ({"access_level": 30, "expires_at": "2026-12-31"}, Membership(30, expires_at=date(2026, 12, 31))),
        ({"access_level": 30, "expires_at": "2026-12-31T00:00:00.000Z"}, Membership(30, expires_at=date(2026, 12, 31))),
    ],
)
def test_memberships(data: dict[str, Any], membership: Membership) -> None:
    """Roles are numbers, unknown ones too; editions without `membership_state` mean active; expiry is a day."""
    assert parse.membership(data) == membership


def test_accounts() -> None:
    """Who is a bot, blocked or an administrator is taken over; without a word nobody is."""
    assert parse.account(DANA) == Account(201, "dana", "Dana R")
    assert parse.account({**DANA, "state": "blocked", "bot": True, "is_admin": True}) == Account(
        201, "dana", "Dana R", "blocked", True, True
    )


@pytest.mark.parametrize("data", [None, [], "text", 5, {}, {"id": None}, {"id": "9"}, {"id": True, "iid": True}])
@pytest.mark.parametrize(
    "read",
    [
        lambda data: parse.thread(data, PAGE),
        lambda data: parse.note(data, PAGE),
        lambda data: parse.item(data, PAGE),
        parse.membership,
        parse.account,
        parse.person,
        parse.project,
        parse.reaction,
    ],
)
def test_something_else_is_an_error(read: Callable[[Any], object], data: object) -> None:
    """JSON that is not what it should be is `Unavailable`, never a half-filled value or a stray exception."""
    with pytest.raises(Unavailable):
        read(data)


@pytest.mark.parametrize(
    "damage",
    [
        {"created_at": "yesterday"},
        {"updated_at": 5},
        {"body": 5},
        {"author": {"id": 5}},
        {"author": {**DANA, "name": 5}},
        {"author": "dana"},
    ],
)
def test_a_damaged_note_is_an_error(damage: dict[str, Any]) -> None:
    """A field of the wrong kind is an error that names it, not a value that breaks later."""
    with pytest.raises(Unavailable):
        parse.note({**FULL, **damage}, PAGE)


@pytest.mark.parametrize("damage", [{"confidential": None}, {"assignees": 5}, {"assignees": [None]}, {"title": None}])
def test_a_damaged_item_is_an_error(damage: dict[str, Any]) -> None:
    """Above all, an item that does not say whether it is confidential is not taken for public."""
    with pytest.raises(Unavailable):
        parse.item({**ISSUE, **damage}, PAGE)


@pytest.mark.parametrize("damage", [{"expires_at": "soon"}, {"expires_at": 5}, {"state": 5}, {"access_level": "30"}])
def test_a_damaged_membership_is_an_error(damage: dict[str, Any]) -> None:
    """A membership that cannot be read is unknown, neither a yes nor a no."""
    with pytest.raises(Unavailable):
        parse.membership({"access_level": 30, **damage})


def test_a_list_is_a_list() -> None:
    """Where a list is due, anything else is an error."""
    assert parse.rows([1]) == [1]
    with pytest.raises(Unavailable):
        parse.rows({"message": "no"})
