"""One authenticated call of the API: who asks, with what, and what of the world they can see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.sandbox import auth, paging, rules
from bot.sandbox.chains import CARRIED
from bot.sandbox.parameters import Parameters
from bot.sandbox.records import Issue, Note, Project, Token, User
from bot.sandbox.refusals import Forbidden, NotFound
from bot.sandbox.tracker import Tracker

T = TypeVar("T")


class Call:
    """What every route of the API starts from."""

    def __init__(self, tracker: Tracker, request: Request, params: Parameters, user: User, token: Token) -> None:
        self.tracker = tracker
        self.world = tracker.world
        self.request = request
        self.params = params
        self.user = user
        self.token = token

    def project(self, project_id: int) -> Project:
        """The project, if the caller can see it."""
        project = self.world.projects.get(project_id)
        if project is None or not rules.can_read_project(project, self.user):
            raise NotFound("Project")
        return project

    def issue(self, project_id: int, iid: int) -> Issue:
        """The issue with that iid, if the caller can see it."""
        project = self.project(project_id)
        issue = self.world.issue_at(project_id, iid)
        if issue is None or not rules.can_read_issue(project, issue, self.user):
            raise NotFound("Issue")
        return issue

    def note(self, project_id: int, iid: int, note_id: int) -> tuple[Issue, Note]:
        """A note of that issue, if the caller can see it."""
        issue = self.issue(project_id, iid)
        note = self.world.notes.get(note_id)
        if note is None or note.issue_id != issue.id or not self.sees(issue, note):
            raise NotFound("Note")
        return issue, note

    def thread(self, project_id: int, iid: int, discussion_id: str) -> tuple[Issue, list[Note]]:
        """The readable notes of a discussion; 404 if there are none (section 4)."""
        issue = self.issue(project_id, iid)
        notes = [note for note in issue.thread(discussion_id) if self.sees(issue, note)]
        if not notes:
            raise NotFound("Discussion")
        return issue, notes

    def sees(self, issue: Issue, note: Note) -> bool:
        """Whether the caller can read a note."""
        project = self.world.projects[issue.project_id]
        return rules.can_read_note(project, issue, note, self.user)

    def require(self, allowed: bool) -> None:
        """403 unless it is allowed."""
        if not allowed:
            raise Forbidden

    def page(
        self,
        rows: Sequence[T],
        shape: Callable[[T], object],
        keep: Callable[[T], bool] | None = None,
        most: int = paging.MOST_PER_PAGE,
    ) -> Response:
        """A page of rows as JSON; `keep` filters after the page is cut, as notes do."""
        number = self.params.number("page") or 1
        size = min(self.params.number("per_page") or paging.DEFAULT_PER_PAGE, most)
        page = paging.cut(rows, number, size, str(self.request.url))
        shown = [shape(row) for row in page.items if keep is None or keep(row)]
        return JSONResponse(shown, headers=page.headers)


async def _call(request: Request) -> Call:
    tracker: Tracker = request.app.state.tracker
    params = await Parameters.of(request)
    with tracker.world.lock:
        token = auth.presented(tracker.world, request.headers)
        if token.rotated and request.url.path.endswith("/self/rotate"):
            auth.revoke_family(tracker.world, token)
        user = auth.authenticate(tracker.world, token)
    # Only a client that carries the header back is protected from its own loop (section 1).
    CARRIED.set(request.headers.get("x-gitlab-event-uuid"))
    return Call(tracker, request, params, user, token)


async def _scoped(call: Annotated[Call, Depends(_call)]) -> Call:
    reading = call.request.method in ("GET", "HEAD")
    auth.require_scope(call.token, *(("api", "read_api") if reading else ("api",)))
    return call


# A call whose token may read, or, for other methods, write.
Ask = Annotated[Call, Depends(_scoped)]
# A call whose route checks the scope itself.
AskUnscoped = Annotated[Call, Depends(_call)]


def made(body: object) -> Response:
    """201 with what was made."""
    return JSONResponse(body, status_code=201)


def gone() -> Response:
    """204: done, nothing to show."""
    return Response(status_code=204)


def shown(body: object) -> Response:
    """200 with a record."""
    return JSONResponse(body)
