"""The nouns: who speaks, what is asked where, what was answered, and the run it belongs to. Not how it is stored or shown.

All values are frozen. Times are timezone-aware UTC.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from bot.core.question import Frozen, OnDeadline, Option, Question, QuestionType, Word

__all__ = [
    "Answer",
    "AnswerKind",
    "AskedQuestion",
    "CallbackTarget",
    "CommandTarget",
    "Frozen",
    "OnDeadline",
    "Option",
    "Person",
    "PullTarget",
    "Question",
    "QuestionState",
    "QuestionType",
    "Reply",
    "Run",
    "RunStatus",
    "Speaker",
    "TargetSpec",
    "Word",
]


class Person(Frozen):
    """Somebody with an account. Identity is the numeric id; the names are for reading."""

    id: int
    username: str
    name: str = ""

    @property
    def called(self) -> str:
        return self.name or self.username


class Speaker(Frozen):
    """Who said something, and the project role they had when it was read (None: no membership)."""

    id: int
    username: str
    role: int | None
    name: str = ""

    @property
    def called(self) -> str:
        return self.name or self.username


class AnswerKind(StrEnum):
    YES = "yes"
    NO = "no"
    SELECTED = "selected"
    MULTI_SELECTED = "multi_selected"
    TEXT = "text"
    REJECTED = "rejected"
    ABORTED = "aborted"
    SKIPPED = "skipped"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class Answer(Frozen):
    """What counts: keys and the person's own words together. `note_id` and `body_hash` say what it was read from."""

    kind: AnswerKind
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    text: str | None = None
    reason: str | None = None
    by: Speaker | None = None
    at: datetime | None = None
    note_url: str | None = None
    note_id: int | None = None
    body_hash: str | None = None

    def same_choice(self, other: "Answer") -> bool:
        """True when both mean the same thing, whatever remark stands beside it (row: same answers merge)."""
        if self.kind is not other.kind:
            return False
        if self.kind is AnswerKind.TEXT:
            return (self.text or "").split() == (other.text or "").split()
        return sorted(self.keys) == sorted(other.keys)


class Reply(Frozen):
    """A note under a question, whether it counted and, if not, why."""

    by: Speaker
    at: datetime
    text: str
    note_url: str
    counted: bool
    why: str | None
    note_id: int


class QuestionState(StrEnum):
    """Given by `core.classify` and by nothing else."""

    OPEN = "open"
    ANSWERED = "answered"
    CONFLICT = "conflict"
    NEEDS_ELIGIBLE = "needs_eligible"
    CLOSED_UNANSWERED = "closed_unanswered"
    ASSUMED = "assumed"
    SUPERSEDED = "superseded"
    DAMAGED = "damaged"

    @property
    def is_open(self) -> bool:
        """Still waiting for somebody; what is counted and linked to (rows G59-G62)."""
        return self in (QuestionState.OPEN, QuestionState.CONFLICT, QuestionState.NEEDS_ELIGIBLE, QuestionState.DAMAGED)


class AskedQuestion(Frozen):
    """A question as it stands on an item: where it was posted, and how the thread was last read."""

    id: str
    run_id: str
    round: int
    position: int
    total: int
    project_id: int
    item_iid: int
    question: Question
    effect_id: str
    mention: str | None = None
    note_id: int | None = None
    discussion_id: str | None = None
    note_url: str | None = None
    posted_at: datetime | None = None
    state: QuestionState = QuestionState.OPEN
    reason: str | None = None
    answer: Answer | None = None
    conflicting: tuple[Answer, ...] = ()
    replies: tuple[Reply, ...] = ()
    hinted: bool = False
    closed: bool = False
    delivered_in: str | None = None
    version: int = 0

    @property
    def posted(self) -> bool:
        return self.note_id is not None


class RunStatus(StrEnum):
    """Transitions are in `core.lifecycle`."""

    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    RESUMING = "resuming"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PullTarget(Frozen):
    """The flow fetches its resume document itself."""

    kind: Literal["pull"] = "pull"


class CallbackTarget(Frozen):
    """The document is posted to a URL of the flow, signed."""

    kind: Literal["callback"] = "callback"
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class CommandTarget(Frozen):
    """A program that the operator configured under this name is started with the document."""

    kind: Literal["command"] = "command"
    name: Word


TargetSpec = Annotated[PullTarget | CallbackTarget | CommandTarget, Field(discriminator="kind")]
"""Where a flow is resumed."""


class Run(Frozen):
    """One flow on one item. `version` is for compare-and-set only."""

    id: str
    flow: str
    goal: str
    instance: str
    project_id: int
    project_path: str
    item_iid: int
    owner: Person
    bot_id: int
    claimed_by_key: str | None = None
    target: TargetSpec = PullTarget()
    status: RunStatus = RunStatus.RUNNING
    round: int = 0
    description_hash: str | None = None
    heard_commands: tuple[int, ...] = ()
    reason: str | None = None
    url: str | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 0

    @property
    def live(self) -> bool:
        return self.status not in (RunStatus.FINISHED, RunStatus.FAILED, RunStatus.CANCELLED)
