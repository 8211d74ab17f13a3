"""Rebuild runs and open questions from the notes of an item alone, when the database was lost (row G6).

The oldest note with an effect id is the question; copies are inert. What the payload does not carry (the goal,
descriptions, stage, metadata) stays empty until the flow starts the run again under the same id.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.core.events import LookAt
from bot.core.models import AskedQuestion, Person, Run, RunStatus
from bot.core.payload import NoteKind, Ours, Payload, decode
from bot.core.question import Question
from bot.core.thread import Note, Thread
from bot.flows.hear import hear
from bot.flows.parts import Parts, Project


@dataclass(frozen=True)
class Recovered:
    """What was found and added; zero of both when nothing was missing."""

    runs: int
    questions: int


@dataclass(frozen=True)
class Found:
    """One note of ours, with where it stands."""

    thread: Thread
    note: Note
    payload: Payload
    question: Question | None


def recover(parts: Parts, project_path: str, item_iid: int) -> Recovered:
    """Add what is missing for one item. Doing it again adds nothing. Raises the `RemoteError` family."""
    project = parts.projects.by_path(project_path)
    project_id = project.gateway.project_id()
    notes = list(_ours(parts, project, project_id, item_iid))
    continued = {(found.payload.run, found.payload.round) for found in notes if found.payload.effect.startswith("resumed:")}
    asked = [found for found in notes if found.payload.kind is NoteKind.QUESTION and found.question is not None]
    runs = 0
    questions = 0
    for run_id in dict.fromkeys(found.payload.run for found in asked):
        of_run = [found for found in asked if found.payload.run == run_id]
        added_run, added = _add(parts, project, of_run, continued)
        runs += added_run
        questions += added
    hear(parts, LookAt(project_id=project_id, item_iid=item_iid))
    return Recovered(runs, questions)


def _ours(parts: Parts, project: Project, project_id: int, item_iid: int) -> Iterable[Found]:
    """Notes of the bot that name this very item, each effect once: the oldest."""
    bot_ids = project.bot_ids()
    seen: set[str] = set()
    for thread in project.gateway.threads(item_iid):
        for note in thread.notes:
            decoded = decode(note.body, parts.keys) if note.author.id in bot_ids else None
            if not isinstance(decoded, Ours):
                continue
            payload = decoded.payload
            if (payload.project, payload.item) != (project_id, item_iid) or payload.effect in seen:
                continue
            seen.add(payload.effect)
            yield Found(thread, note, payload, decoded.question)


def _add(parts: Parts, project: Project, found: list[Found], continued: set[tuple[str, int]]) -> tuple[int, int]:
    last = max(found, key=lambda each: each.payload.round).payload
    account = project.gateway.account(last.owner)
    now = parts.clock.now()
    run = Run(
        id=last.run,
        flow=last.flow,
        goal="",
        instance=last.instance,
        project_id=last.project,
        project_path=project.path,
        item_iid=last.item,
        owner=Person(id=account.id, username=account.username, name=account.name),
        bot_id=project.gateway.identity().id,
        status=RunStatus.RUNNING if (last.run, last.round) in continued else RunStatus.AWAITING_INPUT,
        round=last.round,
        created_at=min(each.note.created_at for each in found),
        updated_at=now,
    )
    with parts.store.unit() as unit:
        known = unit.runs.get(run.id)
        if known is None:
            unit.runs.add(run)
        missing = [each for each in found if unit.questions.get(each.payload.question or "") is None]
        for each in missing:
            unit.questions.add(_asked(each, found, continued))
    return int(known is None), len(missing)


def _asked(found: Found, all_found: list[Found], continued: set[tuple[str, int]]) -> AskedQuestion:
    payload, question = found.payload, found.question
    assert question is not None, "only notes that carry a question come here"
    same_round = [each.payload.effect for each in all_found if each.payload.round == payload.round]
    return AskedQuestion(
        id=payload.question or "",
        run_id=payload.run,
        round=payload.round,
        position=same_round.index(payload.effect) + 1,
        total=len(same_round),
        project_id=payload.project,
        item_iid=payload.item,
        question=question,
        effect_id=payload.effect,
        note_id=found.note.id,
        discussion_id=found.thread.id,
        note_url=found.note.url,
        posted_at=found.note.created_at,
        closed=(payload.run, payload.round) in continued,
    )
