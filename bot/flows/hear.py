"""Follow up one hint: read what GitLab has now, take over what it means for the question, carry out the commands in it.

A hint is never believed: author, text and thread are read from GitLab by id. Reading the same thing twice, or in
another order, ends in the same state (DESIGN section 2).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core import decide
from bot.core.classify import classify
from bot.core.commands import commands
from bot.core.errors import VersionConflict
from bot.core.events import LookAt
from bot.core.models import AskedQuestion, Run, RunStatus
from bot.core.thread import Note, Thread
from bot.flows.command import obey
from bot.flows.gather import facts_for
from bot.flows.parts import Parts, Project

TRIES = 5
CLOCK_SLACK = timedelta(seconds=1)  # GitLab cuts some times to whole seconds


@dataclass(frozen=True)
class Scene:
    """The live runs of an item and their questions, as stored."""

    runs: tuple[Run, ...]
    questions: tuple[AskedQuestion, ...]

    def asked_in(self, discussion_id: str | None) -> AskedQuestion | None:
        return next((asked for asked in self.questions if asked.discussion_id == discussion_id and asked.posted), None)

    def run_of(self, asked: AskedQuestion) -> Run:
        return next(run for run in self.runs if run.id == asked.run_id)


def hear(parts: Parts, look: LookAt) -> None:
    """Do what `look` hints at. Raises the `RemoteError` family; doing it again later is always right."""
    scene = _scene(parts, look)
    if not scene.runs:
        return
    project = parts.projects.of_run(scene.runs[0])
    if look.note_id is None:
        _everything(parts, project, scene, look)
        return
    asked = scene.asked_in(look.discussion_id)
    if asked is None:
        note = project.gateway.note(look.item_iid, look.note_id)
        if note is not None:
            _commands(parts, project, scene, note, None)
        return
    thread = project.gateway.thread(look.item_iid, asked.discussion_id or "")
    _settle(parts, project, scene.run_of(asked), asked, thread)
    note = next((note for note in thread.notes if note.id == look.note_id), None) if thread else None
    if note is not None:
        _commands(parts, project, scene, note, asked)


def _scene(parts: Parts, look: LookAt) -> Scene:
    with parts.store.snapshot() as unit:
        runs = unit.runs.on_item(look.project_id, look.item_iid)
        questions = [asked for run in runs for asked in unit.questions.of_run(run.id)]
    return Scene(tuple(runs), tuple(questions))


def _everything(parts: Parts, project: Project, scene: Scene, look: LookAt) -> None:
    """The whole item, page by page: every open question, and every command given since the round began."""
    missing = {asked.discussion_id for asked in scene.questions if asked.posted and not asked.closed}
    orders: list[tuple[Note, AskedQuestion | None]] = []
    for thread in project.gateway.threads(look.item_iid):
        asked = scene.asked_in(thread.id)
        if asked is not None:
            missing.discard(thread.id)
            _settle(parts, project, scene.run_of(asked), asked, thread)
        orders += [(note, asked) for note in thread.notes]
    for asked in scene.questions:
        if asked.discussion_id in missing:
            _settle(
                parts, project, scene.run_of(asked), asked, project.gateway.thread(look.item_iid, asked.discussion_id or "")
            )
    for note, asked in orders:
        _commands(parts, project, scene, note, asked)


def _settle(parts: Parts, project: Project, run: Run, asked: AskedQuestion, thread: Thread | None) -> None:
    """Take over how the question stands. A closed one stays as it was when its round was continued."""
    for _ in range(TRIES):
        if asked.closed:
            return
        facts = facts_for(parts, project, run, [] if thread is None else [thread])
        heard = decide.heard(asked, classify(asked, thread, facts))
        try:
            with parts.store.unit() as unit:
                if heard.asked != asked:
                    unit.questions.save(heard.asked)
                new = [unit.outbox.put(effect, parts.clock.now()) for effect in heard.effects]
        except VersionConflict:
            with parts.store.snapshot() as unit:
                asked = unit.questions.get(asked.id) or asked
            continue
        if any(new):
            parts.wake()
        parts.note_replies(asked, heard.asked)
        if heard.asked != asked:
            parts.announce(run.id)
        return
    raise VersionConflict(f"question {asked.id} kept changing while it was read")


def _commands(parts: Parts, project: Project, scene: Scene, note: Note, asked: AskedQuestion | None) -> None:
    """Commands count for the round they were given in: an old note that is read or edited again starts nothing."""
    if note.system or note.author.id in project.bot_ids():
        return
    orders = commands(note.body, names=project.names())
    if not orders:
        return
    runs = [run for run in scene.runs if _given_in_round(note, run, scene)]
    for order in orders:
        obey(parts, project, runs, order, note, asked)


def _given_in_round(note: Note, run: Run, scene: Scene) -> bool:
    if run.status is not RunStatus.AWAITING_INPUT or note.id in run.heard_commands:
        return False
    began: list[datetime] = [
        asked.posted_at for asked in scene.questions if asked.run_id == run.id and asked.round == run.round and asked.posted_at
    ]
    return bool(began) and note.created_at >= min(began) - CLOCK_SLACK
