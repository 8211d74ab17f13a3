"""Why a question stands as it does: its thread read from GitLab now, note by note (row G33). Changes nothing.

The state is `core.classify`'s, as everywhere; here is only put beside it which notes made it so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.classify import Standpoint, Voice, classify
from bot.core.errors import Conflict, NotFound
from bot.core.models import AskedQuestion, QuestionState
from bot.core.thread import Note, Thread
from bot.flows.gather import facts_for
from bot.flows.parts import Parts


@dataclass(frozen=True)
class ExplainedNote:
    """One note of the thread. `read_as` is None for what nobody meant as a reply: the card, the bot's own, GitLab's."""

    note_id: int
    author: str
    role: int | None
    read_as: str | None
    counted: bool
    why: str | None


@dataclass(frozen=True)
class Explained:
    """`now` is how the thread reads at this moment, `asked.state` what is recorded; a closed question keeps the latter."""

    asked: AskedQuestion
    now: Standpoint
    notes: tuple[ExplainedNote, ...]
    made_by: tuple[int, ...]


def explain(parts: Parts, question_id: str) -> Explained:
    """Raises `NotFound`, `Conflict` for a question that has no thread yet, and the `RemoteError` family."""
    with parts.store.snapshot() as unit:
        asked = unit.questions.get(question_id)
        run = None if asked is None else unit.runs.get(asked.run_id)
    if asked is None or run is None:
        raise NotFound(
            f"there is no question {question_id}: `hitl questions ITEM --json` lists them", code="question_not_found"
        )
    if not asked.posted:
        raise Conflict(f"question {question_id} has no thread ({asked.reason or 'it is not posted yet'})", code="not_posted")
    project = parts.projects.of_run(run)
    thread = project.gateway.thread(asked.item_iid, asked.discussion_id or "")
    facts = facts_for(parts, project, run, [] if thread is None else [thread], fresh=True)
    now = classify(asked, thread, facts)
    return Explained(asked, now, _notes(asked, thread, now, facts.bot_ids), _made_by(asked, now))


def _notes(asked: AskedQuestion, thread: Thread | None, now: Standpoint, bot_ids: frozenset[int]) -> tuple[ExplainedNote, ...]:
    voices = {voice.note.id: voice for voice in now.voices}
    notes: Sequence[Note] = () if thread is None else sorted(thread.notes, key=lambda note: (note.created_at, note.id))
    return tuple(
        _heard(voices[note.id]) if note.id in voices else _unheard(note, asked, bot_ids)
        for note in notes
    )  # fmt: skip


def _heard(voice: Voice) -> ExplainedNote:
    return ExplainedNote(voice.note.id, voice.by.username, voice.by.role, _read_as(voice), voice.counts, voice.why)


def _unheard(note: Note, asked: AskedQuestion, bot_ids: frozenset[int]) -> ExplainedNote:
    if note.id == asked.note_id:
        why = "the_question"
    elif note.system:
        why = "system_note"
    else:
        why = "bot_itself" if note.author.id in bot_ids else "not_a_reply"
    return ExplainedNote(note.id, note.author.username, None, None, False, why)


def _read_as(voice: Voice) -> str:
    """`selected B`, `text`, or why it is no answer; the person's words are in the note."""
    if voice.said is None:
        return "chatter" if voice.reading.unread is None else voice.reading.unread.value
    return " ".join([voice.said.kind.value, *voice.said.keys])


def _made_by(asked: AskedQuestion, now: Standpoint) -> tuple[int, ...]:
    """The notes without which the state would be another one."""
    match now.state:
        case QuestionState.ANSWERED | QuestionState.CONFLICT:
            return tuple(voice.note.id for voice in now.voices if voice.counts)
        case QuestionState.NEEDS_ELIGIBLE:
            return tuple(voice.note.id for voice in now.voices if voice.said is not None and not voice.verdict.allowed)
        case QuestionState.DAMAGED:
            return () if asked.note_id is None else (asked.note_id,)
        case _:
            return ()
