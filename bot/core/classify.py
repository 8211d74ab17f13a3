"""The state of a question, from its thread: one pure function for count, navigation, status, log, page and resume.

Reads every note below the question, judges its author, and decides which answer holds. Not here: looking anything up,
or what is done about the result (`core.decide`).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from bot.core.eligibility import Account, Policy, Standing, Verdict, Why, may_answer
from bot.core.models import Answer, AnswerKind, AskedQuestion, Person, QuestionState, QuestionType, Reply, Speaker
from bot.core.payload import MARKER, Damaged, Newer, NotOurs, Ours, Relayed, decode
from bot.core.replies import Reading, Said, Unread, read, read_explanation
from bot.core.thread import Note, Thread

REPLACED = "replaced_by_later"
OWNER_DECIDED = "owner_decided"


@dataclass(frozen=True)
class Facts:
    """What is needed besides the thread. `standings` holds everybody who wrote in it, by user id."""

    standings: Mapping[int, Standing]
    policy: Policy
    bot_ids: frozenset[int]
    keys: Sequence[bytes]
    owner_id: int
    today: date
    names: tuple[str, ...] = ("hitl",)


@dataclass(frozen=True)
class Voice:
    """One note below a question, read and judged."""

    note: Note
    by: Speaker
    reading: Reading
    verdict: Verdict
    said: Said | None
    why: str | None = None

    @property
    def counts(self) -> bool:
        return self.why is None


@dataclass(frozen=True)
class Standpoint:
    """How a question stands. `voices` are all human notes below it, oldest first."""

    state: QuestionState
    answer: Answer | None = None
    conflicting: tuple[Answer, ...] = ()
    voices: tuple[Voice, ...] = field(default=())
    reason: str | None = None

    @property
    def replies(self) -> tuple[Reply, ...]:
        return tuple(
            Reply(
                by=voice.by,
                at=voice.note.created_at,
                text=voice.reading.text,
                note_url=voice.note.url,
                note_id=voice.note.id,
                counted=voice.counts,
                why=voice.why,
            )
            for voice in self.voices
        )


def classify(asked: AskedQuestion, thread: Thread | None, facts: Facts) -> Standpoint:
    """How `asked` stands, given its thread as it is now (None: GitLab does not have it any more).

    The result does not depend on the order of `thread.notes`, nor on anything read before.
    """
    if thread is None or not thread.notes:
        return Standpoint(QuestionState.SUPERSEDED, reason="its thread was deleted")
    notes = sorted(thread.notes, key=lambda note: (note.created_at, note.id))
    damage = _damage(asked, notes, facts)
    voices = _heard(asked, notes, facts)
    if damage is not None:
        silent = tuple(replace(voice, why=voice.why or "question_damaged") for voice in voices)
        return Standpoint(QuestionState.DAMAGED, voices=silent, reason=damage)
    if asked.question.question_type is QuestionType.FREEFORM:
        return _joined(thread, voices)
    return _settled(thread, voices, facts.owner_id)


def people_to_judge(thread: Thread, bot_ids: frozenset[int], keys: Sequence[bytes]) -> frozenset[int]:
    """Whose standing `classify` needs: everybody who wrote below the question, and whom `answer` notes speak for."""
    people: set[int] = set()
    for note in thread.notes:
        if note.system:
            continue
        if note.author.id not in bot_ids:
            people.add(note.author.id)
        elif (given := relayed(note, keys)) is not None:
            people.add(given.person)
    return frozenset(people)


def relayed(note: Note, keys: Sequence[bytes]) -> Relayed | None:
    """What an `answer` note of the bot says for a person; None for every other note."""
    decoded = decode(note.body, keys)
    return decoded.payload.relayed if isinstance(decoded, Ours) else None


def body_hash(body: str) -> str:
    """What a later edit of a used reply is noticed by (row W13)."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _damage(asked: AskedQuestion, notes: Sequence[Note], facts: Facts) -> str | None:
    """Why the question's own note cannot be trusted; None when it can (rows G19-G21)."""
    own = next((note for note in notes if note.id == asked.note_id), None)
    if own is None:
        return "the question's own note is gone"
    if own.author.id not in facts.bot_ids:
        return "the question's note is not by the bot"
    match decode(own.body, facts.keys):
        case Ours(payload):
            return None if payload.question == asked.id else "the note carries another question"
        case Damaged(why):
            return why
        case Newer(version):
            return f"the note was written by a newer version (format {version})"
        case NotOurs():
            return "somebody removed the payload from the question's note"


def _heard(asked: AskedQuestion, notes: Sequence[Note], facts: Facts) -> list[Voice]:
    voices: list[Voice] = []
    owes_reason: set[int] = set()
    for note in notes:
        if note.system or note.id == asked.note_id:
            continue
        if note.author.id in facts.bot_ids:
            given = relayed(note, facts.keys)
            if given is not None and given.question == asked.id:
                voices.append(_relayed_voice(note, given, facts))
            continue
        reading = read(asked.question, note.body, names=facts.names)
        said = reading.answer
        if said is not None and said.kind is AnswerKind.TEXT and MARKER in note.body:
            # A copy of one of the bot's notes is nobody's own words.
            reading, said = replace(reading, answer=None, unread=Unread.ECHO), None
        if note.author.id in owes_reason and (said is None or said.kind is AnswerKind.TEXT):
            reason = None if reading.commands else read_explanation(note.body)
            said = Said(AnswerKind.REJECTED, reason=reason) if reason else said
        if reading.unread is Unread.REASON_NEEDED:
            owes_reason.add(note.author.id)
        elif said is not None:
            owes_reason.discard(note.author.id)
        voices.append(_voice(note, reading, said, facts))
    return voices


def _relayed_voice(note: Note, given: Relayed, facts: Facts) -> Voice:
    """An `answer` note counts as the reply of the person it names, whose role is checked like anybody's."""
    said = Said(given.kind, given.keys, given.text, given.reason)
    standing = facts.standings.get(given.person)
    account = Account(given.person, "") if standing is None else standing.account
    spoken = replace(note, author=Person(id=given.person, username=account.username, name=account.name))
    return _voice(spoken, Reading(said, None, (), given.text or given.reason or ""), said, facts)


def _voice(note: Note, reading: Reading, said: Said | None, facts: Facts) -> Voice:
    standing = facts.standings.get(note.author.id)
    if standing is None:
        verdict = Verdict(Why.LOOKUP_FAILED, None)
    else:
        verdict = may_answer(standing, facts.policy, bot_ids=facts.bot_ids, today=facts.today)
    by = Speaker(id=note.author.id, username=note.author.username, name=note.author.name, role=verdict.role)
    why: str | None = None
    if verdict.why is not None:
        why = verdict.why.value
    elif said is None:
        why = (reading.unread or Unread.CHATTER).value
    return Voice(note, by, reading, verdict, said, why)


def _joined(thread: Thread, voices: Sequence[Voice]) -> Standpoint:
    """Free text: everybody's replies in order, together; contributions, never a conflict."""
    counting = [voice for voice in voices if voice.counts]
    if not counting:
        return _unanswered(thread, voices)
    last = counting[-1]
    text = "\n\n".join(voice.said.text or "" for voice in counting if voice.said is not None)
    return Standpoint(QuestionState.ANSWERED, answer=_answer(last).model_copy(update={"text": text}), voices=tuple(voices))


def _settled(thread: Thread, voices: Sequence[Voice], owner_id: int) -> Standpoint:
    """Choices: per person the latest holds; the owner's beats others'; the same choice merges; else a conflict."""
    latest = {voice.by.id: voice for voice in voices if voice.counts}
    if not latest:
        return _unanswered(thread, voices)
    winners = [latest[owner_id]] if owner_id in latest else sorted(latest.values(), key=_when)
    winning = {voice.note.id for voice in winners}
    held = {voice.note.id for voice in latest.values()}

    def told(voice: Voice) -> Voice:
        if not voice.counts or voice.note.id in winning:
            return voice
        return replace(voice, why=OWNER_DECIDED if voice.note.id in held else REPLACED)

    after = tuple(told(voice) for voice in voices)
    answers = [_answer(voice) for voice in winners]
    if all(answers[0].same_choice(other) for other in answers[1:]):
        return Standpoint(QuestionState.ANSWERED, answer=answers[0], voices=after)
    return Standpoint(QuestionState.CONFLICT, conflicting=tuple(answers), voices=after)


def _unanswered(thread: Thread, voices: Sequence[Voice]) -> Standpoint:
    """Open, unless somebody without the right answered (row G62) or the thread was closed as it is (row G75)."""
    ineligible = any(
        voice.said is not None and not voice.verdict.allowed and voice.verdict.why is not Why.BOT for voice in voices
    )
    if ineligible:
        return Standpoint(QuestionState.NEEDS_ELIGIBLE, voices=tuple(voices))
    if thread.resolved:
        return Standpoint(QuestionState.CLOSED_UNANSWERED, voices=tuple(voices), reason="the thread was resolved")
    return Standpoint(QuestionState.OPEN, voices=tuple(voices))


def _when(voice: Voice) -> tuple[datetime, int]:
    return voice.note.created_at, voice.note.id


def _answer(voice: Voice) -> Answer:
    said = voice.said
    assert said is not None, "only voices that said something become answers"
    return Answer(
        kind=said.kind,
        keys=said.keys,
        text=said.text,
        reason=said.reason,
        by=voice.by,
        at=voice.note.created_at,
        note_url=voice.note.url,
        note_id=voice.note.id,
        body_hash=body_hash(voice.note.body),
    )
