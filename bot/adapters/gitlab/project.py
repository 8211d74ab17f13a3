"""`bot.ports.Gateway` for one project of one instance, on plain REST answers. Not here: decisions, retries, translation.

After the first look-up the project is named by its numeric id, which outlives renames and moves of the project.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from bot.adapters.gitlab import parse
from bot.adapters.gitlab.cache import Cache
from bot.adapters.gitlab.connection import Connection
from bot.adapters.gitlab.failures import PROJECT_GONE
from bot.core.eligibility import Account, Membership
from bot.core.errors import Gone, Refused, Unavailable
from bot.core.models import Person
from bot.core.thread import Item, Note, Thread
from bot.ports import Clock, Posted

MEMBERSHIPS_KEPT = timedelta(seconds=60)
ACCOUNTS_KEPT = timedelta(minutes=5)  # GitLab.com allows 300 look-ups in 10 minutes (contract section 4)
PEOPLE = 2_000  # kept at most, of each


class ProjectGateway:
    """The project at `path`, seen with the token of `connection`."""

    def __init__(self, connection: Connection, path: str, *, clock: Clock) -> None:
        self._connection = connection
        self._path = path.strip("/")
        self._about = f"project {self._path}"
        self._identity: Person | None = None
        self._home: tuple[int, str] | None = None
        self._memberships: Cache[int, Membership | None] = Cache(MEMBERSHIPS_KEPT, PEOPLE, clock)
        self._accounts: Cache[int, Account] = Cache(ACCOUNTS_KEPT, PEOPLE, clock)

    def __repr__(self) -> str:
        return f"ProjectGateway({self._connection!r}, {self._path!r})"

    def identity(self) -> Person:
        """Whose token this is."""
        if self._identity is None:
            self._identity = parse.person(self._get("/user"))
        return self._identity

    def project_id(self) -> int:
        """The project's numeric id."""
        return self._found()[0]

    def item(self, iid: int) -> Item:
        """The issue as it is now. Raises `Gone`."""
        return parse.item(self._get(self._issue(iid)), self._page(iid))

    def thread(self, iid: int, discussion_id: str) -> Thread | None:
        """One discussion, None when there is none with this id that the token can see."""
        if not discussion_id.isalnum():
            return None  # would name another resource: without an id this path lists all discussions
        data = self._get_or_none(f"{self._issue(iid)}/discussions/{discussion_id}")
        return None if data is None else parse.thread(data, self._page(iid))

    def threads(self, iid: int) -> Iterator[Thread]:
        """All discussions, oldest first, fetched as they are used."""
        page = self._page(iid)
        for data in self._connection.pages(f"{self._issue(iid)}/discussions", about=self._about):
            yield parse.thread(data, page)

    def note(self, iid: int, note_id: int) -> Note | None:
        """One note, None when there is none with this id that the token can see."""
        data = self._get_or_none(f"{self._issue(iid)}/notes/{note_id}")
        return None if data is None else parse.note(data, self._page(iid))

    def open_thread(self, iid: int, body: str) -> Posted:
        """A new resolvable discussion."""
        data = self._store(f"{self._issue(iid)}/discussions", body)
        with _stored():
            opened = parse.thread(data, self._page(iid))
            if not opened.notes:
                raise Unavailable("GitLab answered with a discussion that has no note")
        return _posted(opened.notes[0], opened.id)

    def reply(self, iid: int, discussion_id: str, body: str) -> Posted:
        """A note below the others of a discussion; turns a plain note into a thread (contract section 4)."""
        if not discussion_id.isalnum():
            raise Refused(f"{self._about}: {discussion_id!r} is not the id of a discussion")
        data = self._store(f"{self._issue(iid)}/discussions/{discussion_id}/notes", body)
        with _stored():
            return _posted(parse.note(data, self._page(iid)), discussion_id)

    def comment(self, iid: int, body: str) -> Posted:
        """A plain note. GitLab's answer does not say its discussion, so `discussion_id` is empty (contract section 4)."""
        data = self._store(f"{self._issue(iid)}/notes", body)
        with _stored():
            return _posted(parse.note(data, self._page(iid)), "")

    def react(self, iid: int, note_id: int, name: str) -> None:
        """Add a reaction, a name without colons."""
        path = f"{self._issue(iid)}/notes/{note_id}/award_emoji"
        try:
            self._connection.call("POST", path, write=True, about=self._about, body={"name": name})
        except Gone:
            # A second one of the same name is answered like a missing note: 404 (contract section 4).
            mine = (name, self.identity().id)
            if all(parse.reaction(data) != mine for data in self._connection.pages(path, about=self._about)):
                raise

    def membership(self, user_id: int, *, fresh: bool = False) -> Membership | None:
        """The effective role: direct, inherited or through an invited group; only `/all` knows (contract section 4)."""
        return self._memberships.get(user_id, lambda: self._membership(user_id), fresh=fresh)

    def account(self, user_id: int) -> Account:
        """The account, up to five minutes old. Raises `Gone`."""
        return self._accounts.get(user_id, lambda: parse.account(self._get(f"/users/{user_id}")))

    def find_account(self, username: str) -> Account | None:
        """The account of that name. Looked up by id as well: the list does not say who is a bot (contract section 6)."""
        found = [parse.person(data) for data in parse.rows(self._get("/users", {"username": username}))]
        ids = [person.id for person in found if person.username.casefold() == username.casefold()]
        return self.account(ids[0]) if ids else None

    def _membership(self, user_id: int) -> Membership | None:
        data = self._get_or_none(f"/projects/{self.project_id()}/members/all/{user_id}")
        return None if data is None else parse.membership(data)

    def _found(self) -> tuple[int, str]:
        if self._home is None:
            self._home = parse.project(self._get(f"/projects/{quote(self._path, safe='')}"))
        return self._home

    def _issue(self, iid: int) -> str:
        return f"/projects/{self.project_id()}/issues/{iid}"

    def _page(self, iid: int) -> str:
        """Where people read the item."""
        return f"{self._connection.url}/{self._found()[1]}/-/issues/{iid}"

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return self._connection.call("GET", path, write=False, about=self._about, query=query).data

    def _get_or_none(self, path: str) -> Any:
        """None for 404, unless it is the whole project that cannot be seen: that says nothing about what is in it."""
        try:
            return self._get(path)
        except Gone as error:
            if error.code == PROJECT_GONE:
                raise
            return None

    def _store(self, path: str, body: str) -> Any:
        answer = self._connection.call("POST", path, write=True, about=self._about, body={"body": body})
        if answer.status == 202:  # contract section 4: the text held nothing but quick actions
            raise Refused(f"POST {path} ({self._about}): GitLab kept no note, the text was only quick actions")
        return answer.data


@contextmanager
def _stored() -> Iterator[None]:
    """The note is stored; when only the answer cannot be read, posting it again would make a second one."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(error.message, doubtful=True) from error


def _posted(note: Note, discussion_id: str) -> Posted:
    return Posted(note.id, discussion_id, note.url, note.created_at)
