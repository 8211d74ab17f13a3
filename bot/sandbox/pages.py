"""The pages people look at, at the same addresses GitLab uses; forms are taken by `page_forms`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import jinja2
from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from bot.sandbox import page_views, rules
from bot.sandbox.emoji import CHARACTERS
from bot.sandbox.records import Issue, Project
from bot.sandbox.refusals import NotFound, Refusal
from bot.sandbox.visitor import COOKIE, Visit, Visiting

routes = APIRouter()

Kind = Literal["issues", "work_items"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self' http: https: data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_STATIC = {"style.css": "text/css", "live.js": "text/javascript"}


def template_folder() -> Path:
    """`templates/sandbox`: inside the package in a wheel, beside it in an editable install."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "templates" / "sandbox", package.parent / "templates" / "sandbox"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("templates/sandbox is neither in the package nor beside it")


@cache
def environment() -> jinja2.Environment:
    """The template environment, escaping everything that is not marked as safe; made once."""
    loader = jinja2.FileSystemLoader(template_folder())
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    made.globals["offered"] = [(name, CHARACTERS[name]) for name in page_views.OFFERED]
    return made


def issue_of(visit: Visit, path: str, iid: int) -> Issue:
    """The issue at that address, if the visitor can see it."""
    project = project_of(visit, path)
    issue = visit.world.issue_at(project.id, iid)
    if issue is None or not rules.can_read_issue(project, issue, visit.user):
        raise NotFound("Issue")
    return issue


def project_of(visit: Visit, path: str) -> Project:
    """The project at that address, if the visitor can see it."""
    project = visit.world.project_at(path)
    if project is None or not rules.can_read_project(project, visit.user):
        raise NotFound("Project")
    return project


@routes.get("/")
def projects(visit: Visiting) -> Response:
    """The projects, and how to reach the API as each person."""
    with visit.world.lock:
        world = visit.world
        found = [p for p in world.projects.values() if rules.can_read_project(p, visit.user)]
        tokens = {token.user_id: token.value for token in world.tokens if not token.revoked}
        people = sorted(world.users.values(), key=lambda user: (user.bot, user.id))
        hooks = list(world.hooks.values())
        return _page(
            visit,
            "projects.html",
            None,
            projects=[(p, _count_open(visit, p)) for p in found],
            access=[(page_views.person(None, u), u.id, tokens.get(u.id)) for u in people],
            hooks=[(hook, visit.tracker.hooks.alert_status(hook)) for hook in hooks],
            deliveries=world.deliveries[:-13:-1],
        )


@routes.get("/-/sandbox/{name}.{ending}")
def static(name: str, ending: str) -> Response:
    """The style sheet and the script."""
    file = f"{name}.{ending}"
    if file not in _STATIC:
        raise NotFound
    text = (template_folder() / file).read_text(encoding="utf-8")
    headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type=_STATIC[file], headers=headers)


@routes.get("/{path:path}/-/{kind}/{iid}/-/changes")
def changes(visit: Visiting, path: str, kind: Kind, iid: int) -> Response:
    """A number that grows with every change of the issue, for the page's script."""
    with visit.world.lock:
        version = issue_of(visit, path, iid).version
    return JSONResponse({"version": version}, headers={"Cache-Control": "no-store"})


@routes.get("/{path:path}/-/{kind}/{iid}")
def issue(visit: Visiting, path: str, kind: Kind, iid: int) -> Response:
    """One issue with its threads."""
    with visit.world.lock:
        found = issue_of(visit, path, iid)
        project = visit.world.projects[found.project_id]
        view = page_views.issue_view(visit.world, found, visit.user)
        here = f"/{project.path}/-/{kind}/{iid}"
        return _page(visit, "issue.html", project, view=view, here=here)


@routes.get("/{path:path}/-/{kind}")
def issues(visit: Visiting, path: str, kind: Kind) -> Response:
    """The issues of a project, newest first."""
    with visit.world.lock:
        project = project_of(visit, path)
        return _page(visit, "issues.html", project, issues=_readable(visit, project))


@routes.get("/{path:path}")
def project(visit: Visiting, path: str) -> Response:
    """A project's page is the list of its issues."""
    if path.startswith("api/"):
        # No page: an address of the API that no route knows.
        raise HTTPException(404)
    return issues(visit, path, "issues")


def refusal_page(request: Request, refusal: Refusal) -> Response:
    """What a visitor sees where the API would answer an error."""
    visit = Visit(request, request.app.state.tracker, {})
    with visit.world.lock:
        return _page(visit, "refused.html", None, refusal.status, message=_words(refusal))


def _words(refusal: Refusal) -> str:
    message = refusal.body.get("message", refusal.body)
    return message if isinstance(message, str) else str(message)


def _readable(visit: Visit, project: Project) -> list[Issue]:
    mine = [issue for issue in visit.world.issues.values() if issue.project_id == project.id]
    seen = [issue for issue in mine if rules.can_read_issue(project, issue, visit.user)]
    return sorted(seen, key=lambda issue: issue.iid, reverse=True)


def _count_open(visit: Visit, project: Project) -> int:
    return sum(issue.state == "opened" for issue in _readable(visit, project))


def _page(visit: Visit, template: str, project: Project | None, status: int = 200, **values: object) -> Response:
    people = sorted(visit.world.users.values(), key=lambda user: (user.bot, user.id))
    html = (
        environment()
        .get_template(template)
        .render(
            project=project,
            you=page_views.person(project, visit.user),
            people=[page_views.person(project, user) for user in people],
            address=visit.request.url.path if visit.request.method == "GET" else "/",
            base=visit.world.url,
            **values,
        )
    )
    answer = HTMLResponse(html, status_code=status, headers=_HEADERS)
    if "as" in visit.request.query_params:
        remember(answer, visit.user.username)
    return answer


def remember(answer: Response, username: str) -> None:
    """Keep the chosen person in a plain cookie; it is a choice, not a session."""
    answer.set_cookie(COOKIE, username, httponly=True, samesite="strict", path="/")
