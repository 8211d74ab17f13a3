"""Carry out a command that somebody wrote on the item, and say there when it cannot be done.

Which run is meant: in a question's thread, that run; at top level, the only waiting one, or the one named by the
beginning of its id.
"""

from collections.abc import Sequence

from bot.core.commands import Command
from bot.core.decide import refused
from bot.core.eligibility import Why
from bot.core.errors import Conflict, Forbidden
from bot.core.models import AskedQuestion, Run
from bot.core.thread import Note
from bot.flows.parts import Event, Parts, Project
from bot.flows.resume import ByPerson, press

CONTINUE = ("continue", "continue anyway")
SILENT = (Why.BOT.value, Why.BOT_ITSELF.value)
SHORTEST_ID = 6
MOST_REMEMBERED = 500  # commands a run remembers: strangers on a public issue must not make it grow without end


def obey(
    parts: Parts, project: Project, waiting: Sequence[Run], order: Command, note: Note, asked: AskedQuestion | None
) -> None:
    """Do it, or refuse visibly. Nothing is said to people without any role in the project."""
    if order.name not in CONTINUE:
        return
    run = _meant(waiting, order, asked)
    discussion_id = None if asked is None else asked.discussion_id
    if run is None:
        if waiting and (order.argument is not None or asked is None):
            _refuse(parts, project, waiting, note, discussion_id, "which_run", runs=_choices(waiting))
        return
    try:
        press(parts, run.id, ByPerson(note.author, discussion_id, note.id), round_=run.round)
    except Forbidden as error:
        _refuse(parts, project, [run], note, discussion_id, error.code, message=error.message)
    except Conflict:
        return  # somebody else was quicker, or the run ended: the receipt of that is already there


def _meant(waiting: Sequence[Run], order: Command, asked: AskedQuestion | None) -> Run | None:
    if order.argument is not None:
        exact = [run for run in waiting if run.id.casefold() == order.argument]
        named = exact or [run for run in waiting if run.id.casefold().startswith(order.argument)]
        return named[0] if len(named) == 1 else None
    if asked is not None:
        return next((run for run in waiting if run.id == asked.run_id), None)
    return waiting[0] if len(waiting) == 1 else None


def _choices(waiting: Sequence[Run]) -> list[dict[str, str]]:
    """Each run with the shortest beginning of its id, from six signs on, that no other waiting run has."""
    ids = [run.id for run in waiting]

    def short(run_id: str) -> str:
        others = [other for other in ids if other != run_id]
        lengths = range(SHORTEST_ID, len(run_id) + 1)
        return next((run_id[:n] for n in lengths if not any(other.startswith(run_id[:n]) for other in others)), run_id)

    return [{"id": short(run.id), "flow": run.flow} for run in waiting]


def _refuse(
    parts: Parts,
    project: Project,
    concerned: Sequence[Run],
    note: Note,
    discussion_id: str | None,
    why: str,
    **values: object,
) -> None:
    """Say it once, and remember it: a command that was refused does not come true when a role or another run changes.

    People without any role, and bots, are not answered (case B20).
    """
    answered = why not in SILENT and project.gateway.membership(note.author.id) is not None
    effect = refused(concerned[0], note.id, discussion_id, why, {"message": "", "runs": [], **values})
    with parts.store.unit() as unit:
        for before in concerned:
            run = unit.runs.get(before.id) or before
            heard = (*run.heard_commands, note.id)[-MOST_REMEMBERED:]
            unit.runs.save(run.model_copy(update={"heard_commands": heard}))
        if answered:
            unit.outbox.put(effect, parts.clock.now())
    parts.note(Event.REFUSED, {"run": concerned[0].id, "note": note.id, "why": why})
    parts.wake()
