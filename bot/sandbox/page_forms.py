"""The forms of the pages: each does one thing as the chosen person and leads back to its place."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from bot.sandbox.emoji import canonical
from bot.sandbox.pages import Kind, issue_of, remember
from bot.sandbox.records import Note
from bot.sandbox.refusals import NotFound, OnlyCommands
from bot.sandbox.visitor import Visit, Visiting

routes = APIRouter()

_ISSUE = "/{path:path}/-/{kind}/{iid}/-"


@routes.post("/-/sandbox/act-as")
def act_as(visit: Visiting) -> Response:
    """Choose who to be."""
    user = visit.world.user_named(visit.text("user"))
    if user is None:
        raise NotFound("User")
    # Only a path on this server: never an address somewhere else.
    path = "/" + urlsplit(visit.text("back")).path.lstrip("/\\")
    answer = RedirectResponse(path, status_code=303)
    remember(answer, user.username)
    return answer


@routes.post(_ISSUE + "/comment")
def comment(visit: Visiting, path: str, kind: Kind, iid: int) -> Response:
    """A new comment, or with the other button a new thread."""
    with visit.world.lock:
        issue, body = issue_of(visit, path, iid), visit.text("body")
        discussions = visit.tracker.discussions
        try:
            if visit.text("how") == "thread":
                note = discussions.open_thread(issue, visit.user, body)
            else:
                note = discussions.comment(issue, visit.user, body)
        except OnlyCommands:
            return _back(visit, path, kind, iid, "")
        return _back(visit, path, kind, iid, f"note_{note.id}")


@routes.post(_ISSUE + "/discussions/{discussion_id}/reply")
def reply(visit: Visiting, path: str, kind: Kind, iid: int, discussion_id: str) -> Response:
    """A reply in a thread."""
    with visit.world.lock:
        issue_of(visit, path, iid)
        try:
            note = visit.tracker.discussions.reply(discussion_id, visit.user, visit.text("body"))
        except OnlyCommands:
            return _back(visit, path, kind, iid, f"discussion_{discussion_id}")
        return _back(visit, path, kind, iid, f"note_{note.id}")


@routes.post(_ISSUE + "/discussions/{discussion_id}/resolve")
def resolve(visit: Visiting, path: str, kind: Kind, iid: int, discussion_id: str) -> Response:
    """Resolve a thread, or take that back."""
    with visit.world.lock:
        issue_of(visit, path, iid)
        resolved = visit.text("resolved") == "true"
        thread = visit.tracker.discussions.resolve(discussion_id, visit.user, resolved)
        anchor = f"discussion_{discussion_id}" if resolved else f"note_{thread[0].id}"
        return _back(visit, path, kind, iid, anchor)


@routes.post(_ISSUE + "/notes/{note_id}/edit")
def edit(visit: Visiting, path: str, kind: Kind, iid: int, note_id: int) -> Response:
    """A new text for a note."""
    with visit.world.lock:
        note = _note(visit, path, iid, note_id)
        try:
            visit.tracker.discussions.edit(note.id, visit.user, visit.text("body"))
        except OnlyCommands:
            return _back(visit, path, kind, iid, "")
        return _back(visit, path, kind, iid, f"note_{note_id}")


@routes.post(_ISSUE + "/notes/{note_id}/delete")
def delete(visit: Visiting, path: str, kind: Kind, iid: int, note_id: int) -> Response:
    """Delete a note."""
    with visit.world.lock:
        note = _note(visit, path, iid, note_id)
        visit.tracker.discussions.delete(note.id, visit.user)
        return _back(visit, path, kind, iid, f"discussion_{note.discussion_id}")


@routes.post(_ISSUE + "/notes/{note_id}/react")
def react(visit: Visiting, path: str, kind: Kind, iid: int, note_id: int) -> Response:
    """Give a reaction, or take one's own back."""
    with visit.world.lock:
        note = _note(visit, path, iid, note_id)
        name = canonical(visit.text("emoji"))
        if any(a.user_id == visit.user.id and a.name == name for a in note.awards):
            visit.tracker.discussions.unreact(note.id, visit.user, visit.text("emoji"))
        else:
            visit.tracker.discussions.react(note.id, visit.user, visit.text("emoji"))
        return _back(visit, path, kind, iid, f"note_{note_id}")


@routes.post(_ISSUE + "/state")
def state(visit: Visiting, path: str, kind: Kind, iid: int) -> Response:
    """Close or reopen the issue."""
    with visit.world.lock:
        event = "reopen" if visit.text("event") == "reopen" else "close"
        issue = issue_of(visit, path, iid)
        if event == "close":
            visit.tracker.issues.close(issue, visit.user)
        else:
            visit.tracker.issues.reopen(issue, visit.user)
        return _back(visit, path, kind, iid, "")


@routes.post(_ISSUE + "/description")
def describe(visit: Visiting, path: str, kind: Kind, iid: int) -> Response:
    """A new description."""
    with visit.world.lock:
        issue = issue_of(visit, path, iid)
        visit.tracker.issues.edit_description(issue, visit.user, visit.text("body"))
        return _back(visit, path, kind, iid, "")


def _note(visit: Visit, path: str, iid: int, note_id: int) -> Note:
    issue = issue_of(visit, path, iid)
    note = visit.world.notes.get(note_id)
    if note is None or note.issue_id != issue.id:
        raise NotFound("Note")
    return note


def _back(visit: Visit, path: str, kind: Kind, iid: int, anchor: str) -> Response:
    place = f"/{path}/-/{kind}/{iid}" + (f"#{anchor}" if anchor else "")
    return RedirectResponse(place, status_code=303)
