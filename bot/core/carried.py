"""What a payload carries, as values (DESIGN section 5). Not here: how it is written into a note (`core.payload`)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from bot.core.models import AnswerKind, OnDeadline, Question, QuestionType

Span = tuple[int, int]
Words = Annotated[str, AfterValidator(str.strip)]


class NoteKind(StrEnum):
    """What a note of the bot is. Only `question` is counted and navigated; only `answer` counts as a reply."""

    QUESTION = "question"
    CONTEXT_REQUEST = "context_request"
    PROGRESS = "progress"
    STATUS = "status"
    ANSWER = "answer"
    HINT = "hint"
    REMINDER = "reminder"
    ASSUMPTION = "assumption"
    BRIEF = "brief"


class Asked(BaseModel):
    """The question as the payload carries it. `text`, labels and default may be spans into the card."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_type: QuestionType
    text: str | Span
    options: tuple[tuple[str, str | Span], ...] = ()
    recommended: tuple[str, ...] = ()
    allow_freeform: bool | None = None
    category: str | None = None
    default: str | tuple[str, ...] | None = None
    default_at: Span | None = None
    deadline: datetime | None = None
    on_deadline: OnDeadline = OnDeadline.WAIT


class Relayed(BaseModel):
    """What an `answer` note says for a person. Long words are spans into the card while they travel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    person: int
    kind: AnswerKind
    keys: tuple[str, ...] = ()
    text: Words | None = None
    reason: Words | None = None
    text_at: Span | None = None
    reason_at: Span | None = None


class Payload(BaseModel):
    """Everything needed to rebuild what the note stands for. `mac` is empty until signed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instance: str
    project: int
    item: int
    run: str
    flow: str
    owner: int
    round: int
    effect: str
    kind: NoteKind
    question: str | None = None
    asked: Asked | None = None
    relayed: Relayed | None = None


def asked(question: Question, deadline: datetime | None = None) -> Asked:
    """The part of `question` that a payload carries; descriptions, stage and metadata stay out."""
    return Asked(
        question_type=question.question_type,
        text=question.text,
        options=tuple((option.key, option.label) for option in question.options),
        recommended=question.recommended,
        allow_freeform=question.allow_freeform,
        category=question.category,
        default=question.default,
        deadline=deadline,
        on_deadline=question.on_deadline,
    )
