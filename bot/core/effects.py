"""What is to be done to the world, as values. Each carries an idempotency key (`effect_id`) that goes into the note it
posts, so that the second attempt can find the first one's result. `lane` keeps order: effects of one lane are delivered
one after the other.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from bot.core.models import Frozen
from bot.core.payload import NoteKind


class PostQuestion(Frozen):
    """Open the thread of a question."""

    kind: Literal["post_question"] = "post_question"
    effect_id: str
    lane: str
    run_id: str
    question_id: str


class PostNote(Frozen):
    """A note that is not a question: `template` names its text, `values` fill it. In a thread, or on the item."""

    kind: Literal["post_note"] = "post_note"
    effect_id: str
    lane: str
    run_id: str
    discussion_id: str | None
    note_kind: NoteKind
    template: str
    values: dict[str, Any]
    question_id: str | None = None
    round: int | None = None


class React(Frozen):
    """A reaction of the bot on a note."""

    kind: Literal["react"] = "react"
    effect_id: str
    lane: str
    run_id: str
    note_id: int
    name: str


class HandOver(Frozen):
    """Give a resume document to the flow's target."""

    kind: Literal["hand_over"] = "hand_over"
    effect_id: str
    lane: str
    run_id: str
    resume_id: str


Effect = Annotated[PostQuestion | PostNote | React | HandOver, Field(discriminator="kind")]


def hand_over(run_id: str, resume_id: str) -> HandOver:
    """The one effect of a resume; resumes of one run are handed over in order."""
    return HandOver(effect_id=hand_over_id(resume_id), lane=f"run:{run_id}", run_id=run_id, resume_id=resume_id)


def hand_over_id(resume_id: str) -> str:
    return f"hand_over:{resume_id}"


def lane_of(project_id: int, item_iid: int) -> str:
    """Notes of one item keep their order."""
    return f"item:{project_id}:{item_iid}"
