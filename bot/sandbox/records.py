"""The records of the sandbox: plain values with ids, without rules, rendering or I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

Visibility = Literal["private", "internal", "public"]

HOOK_TRIGGERS = (
    "note_events",
    "confidential_note_events",
    "issues_events",
    "confidential_issues_events",
    "emoji_events",
)
# Triggers of what the sandbox does not have; hooks show them all the same.
TRIGGERS_OF_NOTHING = (
    "push_events",
    "tag_push_events",
    "merge_requests_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "releases_events",
    "milestone_events",
)


@dataclass
class User:
    """An account. `bot` is true for the users behind project and group access tokens."""

    id: int
    username: str
    name: str
    created_at: datetime
    bot: bool = False
    state: str = "active"
    admin: bool = False


@dataclass
class Token:
    """An access token. `family` ties rotations together, for the reuse rule of section 6."""

    id: int
    user_id: int
    name: str
    value: str
    scopes: tuple[str, ...]
    created_at: datetime
    family: int
    expires_at: date | None = None
    revoked: bool = False
    rotated: bool = False
    last_used_at: datetime | None = None


@dataclass
class Member:
    """One membership; `inherited` ones come from a parent group (only `members/all` has them)."""

    user_id: int
    access_level: int
    created_at: datetime
    state: str = "active"
    expires_at: date | None = None
    membership_state: str = "active"
    inherited: bool = False


@dataclass
class Label:
    """A project label."""

    id: int
    name: str
    color: str
    description: str | None = None


@dataclass
class Trigger:
    """A pipeline trigger token; pipelines run with the rights of its owner (section 9)."""

    id: int
    token: str
    description: str
    owner_id: int
    created_at: datetime


@dataclass
class Pipeline:
    """A pipeline somebody asked for; the sandbox records it and runs nothing."""

    id: int
    iid: int
    ref: str
    source: str
    user_id: int
    created_at: datetime
    variables: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, object] = field(default_factory=dict)


@dataclass
class Project:
    """A project with its members, labels, triggers and pipelines; `path` is the full path."""

    id: int
    path: str
    visibility: Visibility
    created_at: datetime
    members: list[Member] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    triggers: list[Trigger] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)
    default_branch: str = "main"

    @property
    def namespace(self) -> str:
        """The full path of the group the project is in."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass
class Award:
    """A reaction: one per user, name and target."""

    id: int
    name: str
    user_id: int
    created_at: datetime


@dataclass
class Note:
    """A comment or system note. `type` is None for a plain note, `DiscussionNote` in threads."""

    id: int
    issue_id: int
    project_id: int
    author_id: int
    body: str
    discussion_id: str
    created_at: datetime
    updated_at: datetime
    type: str | None = None
    system: bool = False
    internal: bool = False
    resolved_by_id: int | None = None
    resolved_at: datetime | None = None
    updated_by_id: int | None = None
    last_edited_at: datetime | None = None
    awards: list[Award] = field(default_factory=list)

    @property
    def resolvable(self) -> bool:
        """Only notes of threads can be resolved; plain notes once converted (section 4)."""
        return self.type == "DiscussionNote" and not self.system

    @property
    def resolved(self) -> bool:
        """Whether this one note is resolved."""
        return self.resolved_at is not None


@dataclass
class Issue:
    """An issue or work item. `version` counts every visible change, for the page's polling."""

    id: int
    iid: int
    project_id: int
    author_id: int
    title: str
    description: str
    created_at: datetime
    updated_at: datetime
    state: Literal["opened", "closed"] = "opened"
    issue_type: str = "issue"
    confidential: bool = False
    discussion_locked: bool = False
    assignee_ids: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    closed_at: datetime | None = None
    closed_by_id: int | None = None
    moved_to_id: int | None = None
    updated_by_id: int | None = None
    last_edited_at: datetime | None = None
    notes: list[Note] = field(default_factory=list)
    awards: list[Award] = field(default_factory=list)
    version: int = 0

    def thread(self, discussion_id: str) -> list[Note]:
        """The notes of one discussion, oldest first; empty if there is none of that id."""
        notes = [note for note in self.notes if note.discussion_id == discussion_id]
        return sorted(notes, key=lambda note: (note.created_at, note.id))

    def threads(self) -> list[list[Note]]:
        """All discussions, ordered by their first note (created_at, then id)."""
        found: dict[str, list[Note]] = {}
        for note in sorted(self.notes, key=lambda note: (note.created_at, note.id)):
            found.setdefault(note.discussion_id, []).append(note)
        return list(found.values())


def is_resolved(thread: list[Note]) -> bool:
    """Whether a thread is resolved: it has resolvable notes and all of them are."""
    resolvable = [note for note in thread if note.resolvable]
    return bool(resolvable) and all(note.resolved for note in resolvable)


@dataclass
class Hook:
    """A project hook with its triggers and its failure count (section 1)."""

    id: int
    project_id: int
    url: str
    created_at: datetime
    token: str | None = None
    signing_token: str | None = None
    name: str | None = None
    description: str | None = None
    triggers: dict[str, bool] = field(default_factory=dict)
    enable_ssl_verification: bool = True
    failures: int = 0
    disabled_until: datetime | None = None


@dataclass
class HookDelivery:
    """One attempt to deliver an event; a resend is a new attempt with the same key."""

    id: int
    hook_id: int
    event: str
    trigger: str
    idempotency_key: str
    chain: str
    body: bytes
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    sent_at: datetime | None = None
    duration: float = 0.0
    status: int | None = None
    response_body: str = ""
    response_headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None

    @property
    def succeeded(self) -> bool:
        """2xx and 3xx count as success (section 1)."""
        return self.status is not None and 200 <= self.status < 400
