"""GitLab's JSON to values. Fields that versions leave out are tolerated; what identifies a thing must be there.

Every function raises `Unavailable` for an answer that is not what its name says. Not here: fetching, or judging.
"""

from datetime import UTC, date, datetime
from typing import Any, TypeVar

from bot.core.eligibility import Account, Membership
from bot.core.errors import Unavailable
from bot.core.models import Person
from bot.core.thread import Item, Note, Thread

T = TypeVar("T")

NOBODY = Person(id=0, username="unknown")  # no account has this id, so such a note counts for nobody


def thread(data: Any, item_url: str) -> Thread:
    """A discussion; its state is left to `Thread.resolved`, older versions do not send one (contract section 4)."""
    notes = _field(data, "notes", list, "discussion")
    return Thread(_field(data, "id", str, "discussion"), tuple(note(one, item_url) for one in notes))


def note(data: Any, item_url: str) -> Note:
    """A note of the item whose page is `item_url`."""
    author = data.get("author") if isinstance(data, dict) else None
    note_id = _field(data, "id", int, "note")
    created_at = moment(_field(data, "created_at", str, "note"))
    updated_at = data.get("updated_at")
    return Note(
        id=note_id,
        author=NOBODY if author is None else person(author),
        body=_text(data, "body", "note"),
        created_at=created_at,
        updated_at=created_at if updated_at is None else moment(updated_at),
        url=f"{item_url}#note_{note_id}",
        system=bool(data.get("system")),
        internal=bool(data.get("internal") or data.get("confidential")),
        resolvable=bool(data.get("resolvable")),
        resolved=bool(data.get("resolved")),
    )


def item(data: Any, item_url: str) -> Item:
    """An issue; `item_url` is used when the answer names no page."""
    iid = _field(data, "iid", int, "issue")
    author = data.get("author")
    return Item(
        iid=iid,
        title=_field(data, "title", str, "issue"),
        description=_text(data, "description", "issue"),
        url=_text(data, "web_url", "issue") or item_url,
        author_id=NOBODY.id if author is None else person(author).id,
        assignee_ids=tuple(person(one).id for one in _field(data, "assignees", list, "issue", default=[])),
        state=_field(data, "state", str, "issue"),
        issue_type=_text(data, "issue_type", "issue") or "issue",
        confidential=_field(data, "confidential", bool, "issue"),
        moved=data.get("moved_to_id") is not None,
    )


def membership(data: Any) -> Membership:
    """An entry of `members/all`; `membership_state` is sent by some editions only (contract section 4)."""
    expires_at = data.get("expires_at") if isinstance(data, dict) else None
    return Membership(
        role=_field(data, "access_level", int, "membership"),
        state=_field(data, "state", str, "membership", default="active"),
        membership_state=_field(data, "membership_state", str, "membership", default="active"),
        expires_at=None if expires_at is None else _day(expires_at),
    )


def account(data: Any) -> Account:
    """A full account (`GET /user`, `GET /users/:id`): shorter shapes have no `bot` (contract section 6)."""
    return Account(
        id=_field(data, "id", int, "account"),
        username=_field(data, "username", str, "account"),
        name=_text(data, "name", "account"),
        state=_field(data, "state", str, "account", default="active"),
        bot=bool(data.get("bot")),
        admin=bool(data.get("is_admin")),
    )


def person(data: Any) -> Person:
    """Whoever is named by an account of any shape."""
    return Person(
        id=_field(data, "id", int, "account"),
        username=_field(data, "username", str, "account"),
        name=_text(data, "name", "account"),
    )


def project(data: Any) -> tuple[int, str]:
    """A project's numeric id and its path as it is now."""
    return _field(data, "id", int, "project"), _field(data, "path_with_namespace", str, "project")


def reaction(data: Any) -> tuple[str, int]:
    """A reaction's name, and the id of whose it is."""
    return _field(data, "name", str, "reaction"), person(_field(data, "user", dict, "reaction")).id


def rows(data: Any) -> list[Any]:
    """A list that is not cut into pages."""
    if not isinstance(data, list):
        raise Unavailable("GitLab answered something else than a list: check gitlab.url")
    return data


def moment(text: Any) -> datetime:
    """A time in UTC, from ISO 8601 or from `2015-05-17 17:06:40 UTC` (contract section 2)."""
    try:
        read = datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    except (AttributeError, ValueError) as error:
        raise Unavailable(f"GitLab sent a time that cannot be read: {str(text)[:40]!r}") from error
    return (read.replace(tzinfo=UTC) if read.tzinfo is None else read).astimezone(UTC)


def _day(text: Any) -> date:
    try:
        return date.fromisoformat(text[:10])
    except (TypeError, ValueError) as error:
        raise Unavailable(f"GitLab sent a date that cannot be read: {str(text)[:40]!r}") from error


def _text(data: Any, key: str, what: str) -> str:
    return _field(data, key, str, what, default="")


def _field(data: Any, key: str, kind: type[T], what: str, *, default: T | None = None) -> T:
    value = data.get(key) if isinstance(data, dict) else None
    if value is None and default is not None and isinstance(data, dict):
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Unavailable(f"GitLab's answer is not a {what}: it has no usable `{key}`; check gitlab.url")
    return value
