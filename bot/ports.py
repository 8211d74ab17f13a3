"""What the flows need from the outside, one small Protocol a need. No implementation lives here.

Every method of a `Gateway` raises the `RemoteError` family; every method of the store raises `StoreUnavailable`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

from bot.core.effects import Effect
from bot.core.eligibility import Account, Membership
from bot.core.events import Arrival, LookAt
from bot.core.models import AskedQuestion, Person, Run, RunStatus, TargetSpec
from bot.core.thread import Item, Note, Thread

T = TypeVar("T")


class Clock(Protocol):
    """The time, timezone-aware UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """Fresh identifiers: `2 * size` lower-case hexadecimal digits that nobody can guess."""

    def new(self, size: int) -> str: ...


class Renderer(Protocol):
    """Templates to Markdown. Every value is neutralised unless the template says otherwise."""

    def note(self, template: str, values: dict[str, Any]) -> str: ...


@dataclass(frozen=True)
class Posted:
    """A note as GitLab stored it."""

    note_id: int
    discussion_id: str
    url: str
    created_at: datetime


class Gateway(Protocol):
    """One GitLab project, seen with the token configured for it. A project out of the token's sight is `Gone`, never None."""

    def identity(self) -> Person:
        """Whose token this is (`GET /user`); asked once."""

    def project_id(self) -> int:
        """The project's numeric id; asked once."""

    def item(self, iid: int) -> Item: ...

    def thread(self, iid: int, discussion_id: str) -> Thread | None:
        """One discussion as it is now, None when it is gone."""

    def threads(self, iid: int) -> Iterator[Thread]:
        """All discussions of the item, oldest first, page by page."""

    def note(self, iid: int, note_id: int) -> Note | None: ...

    def open_thread(self, iid: int, body: str) -> Posted:
        """A new resolvable discussion. Never repeated by itself; `Unavailable.doubtful` when it may have happened."""

    def reply(self, iid: int, discussion_id: str, body: str) -> Posted: ...

    def comment(self, iid: int, body: str) -> Posted: ...

    def react(self, iid: int, note_id: int, name: str) -> None:
        """Add a reaction; having it already is fine."""

    def membership(self, user_id: int, *, fresh: bool = False) -> Membership | None:
        """The effective role (`members/all/:id`), None for none. May be a minute old unless `fresh`."""

    def account(self, user_id: int) -> Account:
        """Raises `Gone` for a user GitLab does not know."""

    def find_account(self, username: str) -> Account | None: ...


class People(Protocol):
    """Whose personal token is this?"""

    def who(self, token: str) -> Account:
        """The account behind a person's own GitLab token. Raises `Unauthenticated`. Nothing is kept."""


class ResumeTarget(Protocol):
    """Where a flow is resumed, besides fetching its document itself (`pull`)."""

    def check(self, spec: TargetSpec) -> None:
        """Raises `Invalid`, naming the rule, for a target that may not be used."""

    def hand_over(self, run: Run, resume_id: str, document: bytes) -> None:
        """Give `document` to the flow; returning means it has it. May happen twice: `resume_id` tells.

        Raises `Refused` when trying again cannot help, `Unavailable` or `RateLimited` when it can.
        """


class Runs(Protocol):
    """Runs. `save` compares `version`, raises `VersionConflict`, and returns the run as stored."""

    def add(self, run: Run) -> None: ...
    def get(self, run_id: str) -> Run | None: ...
    def save(self, run: Run) -> Run: ...
    def on_item(self, project_id: int, item_iid: int) -> list[Run]:
        """Live runs of an item, oldest first."""

    def listed(
        self, *, project_ids: Sequence[int] | None = None, status: RunStatus | None = None, item_iid: int | None = None
    ) -> list[Run]: ...


class Questions(Protocol):
    """Questions as asked. `save` compares `version` like `Runs.save`."""

    def add(self, asked: AskedQuestion) -> None: ...
    def get(self, question_id: str) -> AskedQuestion | None: ...
    def save(self, asked: AskedQuestion) -> AskedQuestion: ...
    def of_run(self, run_id: str) -> list[AskedQuestion]:
        """All questions of a run, by round and position."""

    def in_thread(self, project_id: int, discussion_id: str) -> AskedQuestion | None: ...


@dataclass(frozen=True)
class StoredResume:
    """A resume document as bytes, so that it is the same each time it is served."""

    id: str
    run_id: str
    round: int
    document: bytes
    created_at: datetime
    delivered_at: datetime | None = None


class Resumes(Protocol):
    def add(self, resume: StoredResume) -> None:
        """Raises `VersionConflict` when the run's round has one already."""

    def get(self, resume_id: str) -> StoredResume | None: ...
    def of_round(self, run_id: str, round_: int) -> StoredResume | None: ...
    def delivered(self, resume_id: str, at: datetime) -> None: ...


@dataclass(frozen=True)
class Claimed(Generic[T]):
    """A row taken for work until its lease ends; `attempt` counts from 1."""

    id: int
    attempt: int
    work: T


@dataclass(frozen=True)
class QueueCounts:
    """The unfinished rows of a queue. `due` as in `Inbox.due`; `waiting` is for its time or its turn; `parked` was given up."""

    due: int
    waiting: int
    parked: int
    oldest_due: datetime | None


class Inbox(Protocol):
    """Arrivals, stored before they are answered, worked on later, exactly once each by either key."""

    def put(self, arrival: Arrival) -> bool:
        """False when it was there already."""

    def claim(self, now: datetime, lease: timedelta) -> Claimed[LookAt] | None: ...
    def due(self, now: datetime) -> int:
        """Rows that are due or being worked on."""

    def counts(self, now: datetime) -> QueueCounts: ...
    def done(self, row_id: int) -> None: ...
    def again(self, row_id: int, due: datetime, error: str) -> None: ...
    def park(self, row_id: int, error: str) -> None: ...


@dataclass(frozen=True)
class Outgoing:
    """An effect on its way: `state` is pending, done, parked or cancelled."""

    state: str
    attempts: int
    due_at: datetime
    error: str | None


class Outbox(Protocol):
    """Effects to deliver. One `effect_id` is kept once; within a lane only the oldest unfinished one can be claimed."""

    def put(self, effect: Effect, now: datetime) -> bool:
        """False when an effect with this id was put before."""

    def claim(self, now: datetime, lease: timedelta, *, lane: str | None = None) -> Claimed[Effect] | None: ...
    def due(self, now: datetime) -> int:
        """Rows that are due or being worked on."""

    def counts(self, now: datetime) -> QueueCounts: ...
    def done(self, row_id: int) -> None: ...
    def again(self, row_id: int, due: datetime, error: str) -> None: ...
    def park(self, row_id: int, error: str) -> None: ...
    def cancel(self, effect_id: str) -> bool:
        """True when it had not been finished yet."""

    def find(self, effect_id: str) -> Outgoing | None:
        """How far an effect is."""

    def revive(self, effect_id: str, now: datetime) -> bool:
        """Make a parked or waiting effect due now. False when it is in hand, done, cancelled or unknown."""


@dataclass(frozen=True)
class FlowKey:
    """A flow's key. `owners` empty: any member allowed to start may be named."""

    id: str
    name: str
    project_ids: tuple[int, ...]
    owners: tuple[int, ...]
    created_at: datetime
    revoked_at: datetime | None = None


class Keys(Protocol):
    """Flow keys; only a hash of the secret is kept."""

    def add(self, key: FlowKey, secret_hash: str) -> None: ...
    def find(self, secret_hash: str) -> FlowKey | None: ...
    def listed(self) -> list[FlowKey]: ...
    def revoke(self, key_id: str, at: datetime) -> bool: ...


@dataclass(frozen=True)
class Recorded:
    """The answer a POST got, kept under its `Idempotency-Key`. `status` is None while it is being worked on."""

    request_hash: str
    status: int | None
    body: str | None
    at: datetime


class Replays(Protocol):
    """Answers of POSTs by caller and `Idempotency-Key`."""

    def begin(self, caller: str, key: str, request_hash: str, now: datetime) -> Recorded | None:
        """None: the caller may go on (the key is reserved). Else what is recorded for the key."""

    def finish(self, caller: str, key: str, status: int, body: str) -> None: ...
    def forget(self, caller: str, key: str) -> None: ...


class Unit(Protocol):
    """One transaction: committed at a clean exit, rolled back otherwise."""

    @property
    def runs(self) -> Runs: ...
    @property
    def questions(self) -> Questions: ...
    @property
    def resumes(self) -> Resumes: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def replays(self) -> Replays: ...


class Store(Protocol):
    """Where state lives."""

    def unit(self) -> AbstractContextManager[Unit]:
        """A transaction that may write; writers take turns."""

    def snapshot(self) -> AbstractContextManager[Unit]:
        """A transaction for reading only: it waits for nobody."""


Wake = Callable[[], None]
"""Called after a commit that left work to do."""

Announce = Callable[[str], None]
"""Called with a run's id after it changed, for whoever waits on it."""
