"""What follows from what was read: new state and effects, as values. One function a question of the flows.

Not here: reading the thread (`core.classify`) or doing anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.classify import Standpoint, Voice, body_hash
from bot.core.effects import Effect, PostNote, React, lane_of
from bot.core.eligibility import Why
from bot.core.goal import ByKey, Mode, Named, ResumeDocument, goal_text, mode_of, shown
from bot.core.lifecycle import Trigger, move
from bot.core.models import AskedQuestion, QuestionState, Run
from bot.core.payload import NoteKind
from bot.core.replies import Unread

SEEN = "white_check_mark"
NOT_POSTED = "it was not posted before Continue"


@dataclass(frozen=True)
class Heard:
    """The question as it now stands, and what to do about it."""

    asked: AskedQuestion
    effects: tuple[Effect, ...]


def heard(asked: AskedQuestion, standpoint: Standpoint) -> Heard:
    """Take over what was read. A counted reply gets a reaction; what could not be read or does not count, one hint."""
    lane = lane_of(asked.project_id, asked.item_iid)
    effects: list[Effect] = [
        React(
            effect_id=f"seen:{voice.note.id}:{body_hash(voice.note.body)[:8]}",
            lane=lane,
            run_id=asked.run_id,
            note_id=voice.note.id,
            name=SEEN,
        )
        for voice in standpoint.voices
        if voice.counts
    ]
    hint = None if asked.hinted else next(filter(None, map(_hint, standpoint.voices)), None)
    if hint is not None:
        effects.append(
            PostNote(
                effect_id=f"hint:{asked.id}",
                lane=lane,
                run_id=asked.run_id,
                discussion_id=asked.discussion_id,
                note_kind=NoteKind.HINT,
                template="hint",
                values={"why": hint, "keys": list(asked.question.keys), "allow_freeform": bool(asked.question.allow_freeform)},
                question_id=asked.id,
            )
        )
    return Heard(taken_over(asked, standpoint).model_copy(update={"hinted": asked.hinted or hint is not None}), tuple(effects))


def taken_over(asked: AskedQuestion, standpoint: Standpoint) -> AskedQuestion:
    """`asked` with the state, answer and replies that were read."""
    return asked.model_copy(
        update={
            "state": standpoint.state,
            "reason": standpoint.reason,
            "answer": standpoint.answer,
            "conflicting": standpoint.conflicting,
            "replies": standpoint.replies,
        }
    )


def _hint(voice: Voice) -> str | None:
    """Why this person should hear from the bot. Strangers cannot make it talk, and chat among members is left alone."""
    unread = voice.reading.unread
    tried = voice.said is not None or (unread is not None and unread.asks_again)
    if voice.verdict.why is Why.ROLE_BELOW_THRESHOLD and tried:
        return Why.ROLE_BELOW_THRESHOLD.value
    if voice.verdict.allowed and voice.said is None and unread is not None and (unread.asks_again or unread is Unread.CHATTER):
        return unread.value
    return None


@dataclass(frozen=True)
class Presser:
    """Who pressed Continue: a person, or a flow's key. `discussion_id` is where they said it, if in a thread."""

    who: Named | ByKey
    called: str
    discussion_id: str | None = None


@dataclass(frozen=True)
class Continued:
    """What Continue comes to: all of it is committed at once."""

    run: Run
    questions: tuple[AskedQuestion, ...]
    document: ResumeDocument
    effects: tuple[Effect, ...]


def continued(
    run: Run,
    questions: Sequence[AskedQuestion],
    presser: Presser,
    *,
    resume_id: str,
    description_changed: bool,
    now: datetime,
) -> Continued:
    """End the round: close its questions as they stand, and write the resume document. Open questions never block."""
    moved = move(run, Trigger.CONTINUE, now)
    closed = tuple(_closed(asked) if asked.round == run.round else asked for asked in questions)
    mode = mode_of(closed, run.round)
    document = ResumeDocument(
        run=run.id,
        resume=resume_id,
        round=run.round,
        mode=mode,
        flow=run.flow,
        project=run.project_path,
        item_iid=run.item_iid,
        owner=Named(id=run.owner.id, username=run.owner.username),
        continued_by=presser.who,
        original_goal=run.goal,
        goal=goal_text(run, [asked for asked in closed if asked.delivered_in is None], mode),
        description_changed=description_changed,
        questions=tuple(shown(asked) for asked in closed),
    )
    return Continued(moved, closed, document, (_receipt(run, closed, presser, resume_id, mode),))


def _closed(asked: AskedQuestion) -> AskedQuestion:
    if asked.posted:
        return asked.model_copy(update={"closed": True})
    return asked.model_copy(update={"closed": True, "state": QuestionState.SUPERSEDED, "reason": NOT_POSTED})


def _receipt(run: Run, questions: Sequence[AskedQuestion], presser: Presser, resume_id: str, mode: Mode) -> PostNote:
    round_ = [asked for asked in questions if asked.round == run.round]
    answered = [asked for asked in round_ if asked.answer is not None]
    left = [asked for asked in round_ if asked.answer is None]
    values: dict[str, Any] = {
        "flow": run.flow,
        "by": presser.called,
        "mode": mode.value,
        "answered": [_line(asked) for asked in answered],
        "left": [_line(asked) for asked in left],
    }
    return PostNote(
        effect_id=f"resumed:{resume_id}",
        lane=lane_of(run.project_id, run.item_iid),
        run_id=run.id,
        discussion_id=presser.discussion_id,
        note_kind=NoteKind.STATUS,
        template="resumed",
        values=values,
        round=run.round,
    )


def _line(asked: AskedQuestion) -> dict[str, Any]:
    answer = asked.answer
    return {
        "position": asked.position,
        "text": asked.question.text,
        "note_id": asked.note_id,
        "state": asked.state.value,
        "chosen": [] if answer is None else list(answer.keys),
        "labels": [] if answer is None else list(asked.question.labels(answer.keys)),
        "kind": None if answer is None else answer.kind.value,
        "by": None if answer is None or answer.by is None else answer.by.called,
    }


def refused(run: Run, note_id: int, discussion_id: str | None, why: str, values: dict[str, Any]) -> PostNote:
    """A visible refusal of a command, once per note that gave it (row G39)."""
    return PostNote(
        effect_id=f"refused:{note_id}",
        lane=lane_of(run.project_id, run.item_iid),
        run_id=run.id,
        discussion_id=discussion_id,
        note_kind=NoteKind.HINT,
        template="refused",
        values={"why": why, **values},
    )
