"""Routes about notes and threads of an issue (contract section 4), and reactions on notes."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from bot.sandbox import entities
from bot.sandbox.call import Ask, Call, gone, made, shown
from bot.sandbox.records import Award, Note
from bot.sandbox.refusals import Invalid, NotFound

routes = APIRouter(prefix="/api/v4/projects/{project_id}/issues/{iid}")

_FILTERS = ("all_notes", "only_comments", "only_activity")


@routes.get("/notes")
def notes(call: Ask, project_id: int, iid: int) -> Response:
    """All notes, newest first; unreadable ones are left out of a page after it is cut."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        order = call.params.choice("order_by", ("created_at", "updated_at"), "created_at")
        newest_first = call.params.choice("sort", ("asc", "desc"), "desc") == "desc"
        wanted = call.params.choice("activity_filter", _FILTERS, "all_notes")
        rows = [note for note in issue.notes if wanted == "all_notes" or note.system == (wanted == "only_activity")]
        rows.sort(key=lambda note: (getattr(note, order), note.id), reverse=newest_first)
        return call.page(
            rows,
            lambda note: entities.note(call.world, note),
            keep=lambda note: call.sees(issue, note),
        )


@routes.post("/notes")
def create_note(call: Ask, project_id: int, iid: int) -> Response:
    """A plain note."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        call.tracker.limits.count("notes_create", call.user)
        params = call.params
        internal = params.flag("internal") or params.flag("confidential") or False
        note = call.tracker.discussions.comment(
            issue, call.user, params.required("body"), internal, params.moment("created_at")
        )
        changes = call.tracker.discussions.commands_changes.get(note.id)
        return made(entities.note(call.world, note, changes))


@routes.get("/notes/{note_id}")
def note(call: Ask, project_id: int, iid: int, note_id: int) -> Response:
    """One note."""
    with call.world.lock:
        _, note = call.note(project_id, iid, note_id)
        return shown(entities.note(call.world, note))


@routes.put("/notes/{note_id}")
def update_note(call: Ask, project_id: int, iid: int, note_id: int) -> Response:
    """A new text for a note."""
    with call.world.lock:
        call.note(project_id, iid, note_id)
        body = call.params.required("body")
        return shown(entities.note(call.world, call.tracker.discussions.edit(note_id, call.user, body)))


@routes.delete("/notes/{note_id}")
def delete_note(call: Ask, project_id: int, iid: int, note_id: int) -> Response:
    """Delete a note."""
    with call.world.lock:
        call.note(project_id, iid, note_id)
        call.tracker.discussions.delete(note_id, call.user)
        return gone()


@routes.get("/discussions")
def discussions(call: Ask, project_id: int, iid: int) -> Response:
    """All discussions, ordered by their first note."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        readable = ([n for n in t if call.sees(issue, n)] for t in issue.threads())
        rows = [thread for thread in readable if thread]
        return call.page(rows, lambda thread: entities.discussion(call.world, thread))


@routes.post("/discussions")
def open_thread(call: Ask, project_id: int, iid: int) -> Response:
    """A new thread; no rate limit is checked here in the version read."""
    with call.world.lock:
        issue = call.issue(project_id, iid)
        note = call.tracker.discussions.open_thread(
            issue, call.user, call.params.required("body"), call.params.moment("created_at")
        )
        return made(entities.discussion(call.world, issue.thread(note.discussion_id)))


@routes.get("/discussions/{discussion_id}")
def discussion(call: Ask, project_id: int, iid: int, discussion_id: str) -> Response:
    """One discussion."""
    with call.world.lock:
        _, thread = call.thread(project_id, iid, discussion_id)
        return shown(entities.discussion(call.world, thread))


@routes.put("/discussions/{discussion_id}")
def resolve_thread(call: Ask, project_id: int, iid: int, discussion_id: str) -> Response:
    """Resolve or unresolve a whole thread."""
    with call.world.lock:
        call.thread(project_id, iid, discussion_id)
        resolved = call.params.flag("resolved")
        if resolved is None:
            raise Invalid.missing("resolved")
        call.tracker.limits.count("discussions_resolve", call.user)
        call.tracker.discussions.resolve(discussion_id, call.user, resolved)
        _, thread = call.thread(project_id, iid, discussion_id)
        return shown(entities.discussion(call.world, thread))


@routes.post("/discussions/{discussion_id}/notes")
def reply(call: Ask, project_id: int, iid: int, discussion_id: str) -> Response:
    """A reply; it turns a plain note into a thread."""
    with call.world.lock:
        call.thread(project_id, iid, discussion_id)
        note = call.tracker.discussions.reply(
            discussion_id,
            call.user,
            call.params.required("body"),
            call.params.moment("created_at"),
        )
        changes = call.tracker.discussions.commands_changes.get(note.id)
        return made(entities.note(call.world, note, changes))


@routes.get("/discussions/{discussion_id}/notes/{note_id}")
def thread_note(call: Ask, project_id: int, iid: int, discussion_id: str, note_id: int) -> Response:
    """One note of a thread."""
    with call.world.lock:
        return shown(entities.note(call.world, _in_thread(call, project_id, iid, note_id)))


@routes.put("/discussions/{discussion_id}/notes/{note_id}")
def update_thread_note(call: Ask, project_id: int, iid: int, discussion_id: str, note_id: int) -> Response:
    """Exactly one of `body` and `resolved`; the latter acts on this single note."""
    with call.world.lock:
        _in_thread(call, project_id, iid, note_id)
        body, resolved = call.params.text("body"), call.params.flag("resolved")
        if (body is None) == (resolved is None):
            state = "missing" if body is None else "mutually exclusive"
            raise Invalid.parameter(f"body, resolved are {state}, exactly one parameter must be provided")
        if body is not None:
            note = call.tracker.discussions.edit(note_id, call.user, body)
        else:
            call.tracker.limits.count("discussions_resolve", call.user)
            note = call.tracker.discussions.resolve_note(note_id, call.user, bool(resolved))
        return shown(entities.note(call.world, note))


@routes.delete("/discussions/{discussion_id}/notes/{note_id}")
def delete_thread_note(call: Ask, project_id: int, iid: int, discussion_id: str, note_id: int) -> Response:
    """Delete a note of a thread."""
    with call.world.lock:
        _in_thread(call, project_id, iid, note_id)
        call.tracker.discussions.delete(note_id, call.user)
        return gone()


@routes.get("/notes/{note_id}/award_emoji")
def awards(call: Ask, project_id: int, iid: int, note_id: int) -> Response:
    """The reactions on a note."""
    with call.world.lock:
        _, note = call.note(project_id, iid, note_id)
        return call.page(note.awards, lambda award: _award(call, award, note))


@routes.post("/notes/{note_id}/award_emoji")
def give_award(call: Ask, project_id: int, iid: int, note_id: int) -> Response:
    """React to a note."""
    with call.world.lock:
        issue, note = call.note(project_id, iid, note_id)
        award = call.tracker.awards.give(issue, note, call.user, call.params.required("name"))
        return made(_award(call, award, note))


@routes.delete("/notes/{note_id}/award_emoji/{award_id}")
def withdraw_award(call: Ask, project_id: int, iid: int, note_id: int, award_id: int) -> Response:
    """Take a reaction back."""
    with call.world.lock:
        issue, note = call.note(project_id, iid, note_id)
        call.tracker.awards.withdraw(issue, note, call.user, award_id)
        return gone()


def _award(call: Call, award: Award, note: Note) -> dict[str, object]:
    return entities.award(call.world, award, "Note", note.id)


def _in_thread(call: Call, project_id: int, iid: int, note_id: int) -> Note:
    _, note = call.note(project_id, iid, note_id)
    if note.discussion_id != call.request.path_params["discussion_id"]:
        raise NotFound("Note")
    return note
