"""Carry out a command that somebody wrote on the item, and say there when it cannot be done.

Which run is meant: in a question's thread, that run; at top level, the only waiting one, or the one named by the
beginning of its id.
"""

from collections.abc import Sequence

from bot.core.commands import Command
from bot.core.decide import refused
from bot.core.errors import Conflict, Forbidden
from bot.core.models import AskedQuestion, Run
from bot.core.thread import Note
from bot.flows.parts import Event, Parts, Project
from bot.flows.resume import ByPerson, press

CONTINUE = ("continue", "continue anyway")


def obey(
    parts: Parts, project: Project, waiting: Sequence[Run], order: Command, note: Note, asked: AskedQuestion | None
) -> None:
    """Do it, or refuse visibly. Nothing is said to people without any role in the project."""
    if order.name not in CONTINUE:
        return
    run = _meant(waiting, order, asked)
    if run is None:
        if len(waiting) > 1 and asked is None:
            choices = [{"id": each.id[:6], "flow": each.flow} for each in waiting]
            _refuse(parts, project, waiting, note, None, "which_run", runs=choices)
        return
    discussion_id = None if asked is None else asked.discussion_id
    try:
        press(parts, run.id, ByPerson(note.author, discussion_id, note.id))
    except Forbidden as error:
        _refuse(parts, project, [run], note, discussion_id, error.code, message=error.message)
    except Conflict:
        return  # somebody else was quicker, or the run ended: the receipt of that is already there


def _meant(waiting: Sequence[Run], order: Command, asked: AskedQuestion | None) -> Run | None:
    if order.argument is not None:
        named = [run for run in waiting if run.id.casefold().startswith(order.argument)]
        return named[0] if len(named) == 1 else None
    if asked is not None:
        return next((run for run in waiting if run.id == asked.run_id), None)
    return waiting[0] if len(waiting) == 1 else None


def _refuse(
    parts: Parts,
    project: Project,
    concerned: Sequence[Run],
    note: Note,
    discussion_id: str | None,
    why: str,
    **values: object,
) -> None:
    """Say it once, and remember it: a command that was refused does not come true when a role or another run changes."""
    known = project.gateway.membership(note.author.id) is not None
    effect = refused(concerned[0], note.id, discussion_id, why, {"message": "", "runs": [], **values})
    with parts.store.unit() as unit:
        for run in concerned:
            unit.runs.save(run.model_copy(update={"heard_commands": (*run.heard_commands, note.id)}))
        if known:
            unit.outbox.put(effect, parts.clock.now())
    parts.note(Event.REFUSED, {"run": concerned[0].id, "note": note.id, "why": why})
    parts.wake()
