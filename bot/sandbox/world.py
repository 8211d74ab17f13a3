"""The world of the sandbox: all records, their ids, the lock and the clock; no rules, no HTTP.

Ids and token values depend only on the order of creation, so a restarted demo has the same ones.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from threading import RLock

from bot.sandbox.records import (
    HOOK_TRIGGERS,
    Hook,
    HookDelivery,
    Issue,
    Label,
    Member,
    Note,
    Project,
    Token,
    Trigger,
    User,
    Visibility,
)


def utc_now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


class World:
    """Everything the sandbox knows. Whoever reads or changes it holds `lock`."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self.lock = RLock()
        self.clock = clock
        self.url = "http://sandbox.invalid"
        self.version = "19.5.0"
        self.loopback_hooks = True
        self.iso_hook_times = False
        self.users: dict[int, User] = {}
        self.tokens: list[Token] = []
        self.projects: dict[int, Project] = {}
        self.issues: dict[int, Issue] = {}
        self.notes: dict[int, Note] = {}
        self.hooks: dict[int, Hook] = {}
        self.deliveries: list[HookDelivery] = []
        self.todos: list[tuple[int, Issue, int | None]] = []
        self._ids = {"user": 1000, "project": 100, "issue": 3300, "note": 9100}

    def now(self) -> datetime:
        """The time by the injected clock."""
        return self.clock()

    def next_id(self, kind: str) -> int:
        """The next unused id of a kind of record."""
        self._ids[kind] = self._ids.get(kind, 0) + 1
        return self._ids[kind]

    @property
    def has_signed_hooks(self) -> bool:
        """Whether the version followed has the `webhook-*` headers: since 19.0 (section 1)."""
        return int(self.version.partition(".")[0]) >= 19

    # People

    def add_user(
        self,
        username: str,
        name: str | None = None,
        id: int | None = None,
        bot: bool = False,
        state: str = "active",
        admin: bool = False,
    ) -> User:
        """Create an account."""
        with self.lock:
            number = self.next_id("user") if id is None else id
            if number in self.users or self.user_named(username):
                raise ValueError(f"user {number} or {username!r} exists already")
            user = User(number, username, name or username, self.now(), bot, state, admin)
            self.users[user.id] = user
            return user

    def user_named(self, username: str) -> User | None:
        """The user of that name, upper and lower case alike."""
        wanted = username.casefold()
        return next((u for u in self.users.values() if u.username.casefold() == wanted), None)

    def add_token(
        self,
        user: User,
        scopes: Iterable[str] = ("api",),
        expires_at: date | None = None,
        value: str | None = None,
        name: str = "sandbox token",
        family: int | None = None,
    ) -> str:
        """Create an access token and return its value."""
        with self.lock:
            number = self.next_id("token")
            secret = value or f"glpat-{_digest(f'token {number} of {user.username}')[:20]}"
            token = Token(
                id=number,
                user_id=user.id,
                name=name,
                value=secret,
                scopes=tuple(scopes),
                created_at=self.now(),
                family=number if family is None else family,
                expires_at=expires_at,
            )
            self.tokens.append(token)
            return secret

    def block(self, user: User) -> None:
        """Block an account: it keeps its memberships and notes and may do nothing."""
        with self.lock:
            user.state = "blocked"

    # Projects and members

    def add_project(self, path: str, id: int | None = None, visibility: Visibility = "private") -> Project:
        """Create a project under its full path; the groups above it exist by being named."""
        with self.lock:
            number = self.next_id("project") if id is None else id
            if number in self.projects or self.project_at(path):
                raise ValueError(f"project {number} or {path!r} exists already")
            project = Project(number, path, visibility, self.now())
            self.projects[project.id] = project
            return project

    def project_at(self, path: str) -> Project | None:
        """The project with that full path, upper and lower case alike."""
        wanted = path.casefold()
        return next((p for p in self.projects.values() if p.path.casefold() == wanted), None)

    def add_member(
        self,
        project: Project,
        user: User,
        access_level: int,
        state: str = "active",
        expires_at: date | None = None,
        membership_state: str = "active",
        inherited: bool = False,
    ) -> Member:
        """Add a membership; a user may have a direct and an inherited one."""
        with self.lock:
            member = Member(user.id, access_level, self.now(), state, expires_at, membership_state, inherited)
            project.members.append(member)
            return member

    def remove_member(self, project: Project, user: User) -> None:
        """Remove every membership of the user."""
        with self.lock:
            project.members = [m for m in project.members if m.user_id != user.id]

    def set_role(self, project: Project, user: User, level: int) -> None:
        """Give the user's memberships another level; a user without one becomes a member."""
        with self.lock:
            mine = [m for m in project.members if m.user_id == user.id]
            for member in mine:
                member.access_level = level
            if not mine:
                self.add_member(project, user, level)

    def add_label(self, project: Project, name: str, color: str = "#6699cc") -> Label:
        """Create a label."""
        with self.lock:
            label = Label(self.next_id("label"), name, color)
            project.labels.append(label)
            return label

    def add_trigger(self, project: Project, owner: User, description: str = "sandbox") -> Trigger:
        """Create a pipeline trigger token that runs with the owner's rights."""
        with self.lock:
            number = self.next_id("trigger")
            secret = f"glptt-{_digest(f'trigger {number}')[:40]}"
            trigger = Trigger(number, secret, description, owner.id, self.now())
            project.triggers.append(trigger)
            return trigger

    # Issues and notes, as bare records: rules and hooks live in `issues` and `discussions`

    def add_issue(
        self,
        project: Project,
        author: User,
        title: str,
        description: str = "",
        iid: int | None = None,
        issue_type: str = "issue",
        confidential: bool = False,
        assignees: Iterable[User] = (),
    ) -> Issue:
        """Create an issue, without hooks."""
        with self.lock:
            taken = {i.iid for i in self.issues.values() if i.project_id == project.id}
            if iid in taken:
                raise ValueError(f"{project.path}#{iid} exists already")
            now = self.now()
            issue = Issue(
                id=self.next_id("issue"),
                iid=max(taken, default=0) + 1 if iid is None else iid,
                project_id=project.id,
                author_id=author.id,
                title=title,
                description=description,
                created_at=now,
                updated_at=now,
                issue_type=issue_type,
                confidential=confidential,
                assignee_ids=[user.id for user in assignees],
            )
            self.issues[issue.id] = issue
            return issue

    def issue_at(self, project_id: int, iid: int) -> Issue | None:
        """The issue with that iid in the project."""
        found = (i for i in self.issues.values() if i.project_id == project_id and i.iid == iid)
        return next(found, None)

    def remove_issue(self, issue: Issue) -> None:
        """Delete an issue and its notes."""
        for note in issue.notes:
            del self.notes[note.id]
        del self.issues[issue.id]

    def store_note(
        self,
        issue: Issue,
        author: User,
        body: str,
        discussion_id: str | None = None,
        type: str | None = None,
        system: bool = False,
        internal: bool = False,
        created_at: datetime | None = None,
    ) -> Note:
        """Keep a note and touch its issue: saving a note moves `updated_at` (section 3)."""
        now = self.now()
        number = self.next_id("note")
        note = Note(
            id=number,
            issue_id=issue.id,
            project_id=issue.project_id,
            author_id=author.id,
            body=body,
            discussion_id=discussion_id or _digest(f"discussion {number}"),
            created_at=created_at or now,
            updated_at=created_at or now,
            type=type,
            system=system,
            internal=internal,
        )
        issue.notes.append(note)
        self.notes[note.id] = note
        issue.updated_at = now
        issue.version += 1
        return note

    def remove_note(self, note: Note) -> None:
        """Drop a note; this does not touch the issue (section 3)."""
        issue = self.issues[note.issue_id]
        issue.notes.remove(note)
        del self.notes[note.id]
        issue.version += 1

    # Hooks

    def add_hook(
        self,
        project: Project,
        url: str,
        token: str | None = None,
        signing_token: str | None = None,
        **triggers: bool,
    ) -> Hook:
        """Register a project hook; every trigger is on unless it is switched off by name."""
        if unknown := set(triggers) - set(HOOK_TRIGGERS):
            raise ValueError(f"no such hook triggers: {sorted(unknown)}")
        if signing_token is not None:
            base64.b64decode(signing_token.removeprefix("whsec_"), validate=True)
        with self.lock:
            hook = Hook(self.next_id("hook"), project.id, url, self.now(), token, signing_token)
            hook.triggers = {name: triggers.get(name, True) for name in HOOK_TRIGGERS}
            self.hooks[hook.id] = hook
            return hook


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
