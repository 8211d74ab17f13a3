"""The web application of the sandbox: its routers, GitLab's error bodies, encoded project paths."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import unquote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.sandbox import (
    graphql,
    page_forms,
    pages,
    rest_faults,
    rest_hooks,
    rest_issues,
    rest_notes,
    rest_people,
    rest_pipelines,
    rest_projects,
    rest_trouble,
)
from bot.sandbox.refusals import Refusal
from bot.sandbox.tracker import Tracker
from bot.sandbox.world import World

_PROJECT = re.compile(r"^(/api/v4/projects/)([^/]+)(/.*)?$")


# The pages come last: their paths match almost everything.
_ROUTERS = (
    rest_people.routes,
    rest_projects.routes,
    rest_issues.routes,
    rest_notes.routes,
    rest_hooks.routes,
    rest_pipelines.routes,
    graphql.routes,
    rest_faults.routes,
    rest_trouble.routes,
    page_forms.routes,
    pages.routes,
)


def create_app(world: World, tracker: Tracker | None = None, hangup: rest_faults.Hangup | None = None) -> FastAPI:
    """An application over a world; it delivers hooks for as long as it runs.

    `hangup` ends a client's connection, which only the server can; without it a connection
    that should be dropped is answered with 502.
    """
    parts = tracker or Tracker.over(world)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        parts.hooks.start()
        try:
            yield
        finally:
            parts.hooks.stop()

    app = FastAPI(title="Sandbox tracker", lifespan=running, docs_url=None, redoc_url=None)
    app.state.tracker = parts
    for router in _ROUTERS:
        # The routes as they are: including a router would work them out anew for every app.
        app.router.routes.extend(router.routes)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_middleware(EncodedPaths, world=world)
    app.add_middleware(rest_faults.FaultyApi, faults=parts.faults, hangup=hangup)
    return app


class EncodedPaths:
    """Lets `/projects/group%2Fproject/...` be routed as the project's numeric id."""

    def __init__(self, app: ASGIApp, world: World) -> None:
        self._app = app
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rewrite the path of the request, from the bytes as they were sent."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or scope["path"].encode()
            match = _PROJECT.match(raw.decode("latin-1"))
            if match and not match.group(2).isdecimal():
                scope = {**scope, "path": self._numeric(*match.groups(""))}
        await self._app(scope, receive, send)

    def _numeric(self, prefix: str, encoded: str, rest: str) -> str:
        with self._world.lock:
            project = self._world.project_at(unquote(encoded))
        # Ids begin at 1: an unknown path is answered like an unknown id.
        return f"{prefix}{project.id if project else 0}{unquote(rest)}"


async def _refused(request: Request, error: Exception) -> Response:
    refusal = cast(Refusal, error)
    tracker: Tracker = request.app.state.tracker
    # A page is always seen by somebody, so a world without people has none.
    if tracker.world.users and not request.url.path.startswith("/api/"):
        return pages.refusal_page(request, refusal)
    return JSONResponse(refusal.body, status_code=refusal.status)


async def _unreadable(_: Request, error: Exception) -> Response:
    problems = cast(RequestValidationError, error).errors()
    names = {str(problem["loc"][-1]) for problem in problems}
    text = ", ".join(f"{name} is invalid" for name in sorted(names))
    return JSONResponse({"error": text}, status_code=400)


async def _unrouted(_: Request, error: Exception) -> Response:
    status = cast(HTTPException, error).status_code
    words = {405: "405 Not Allowed"}.get(status, "404 Not Found")
    return JSONResponse({"error": words}, status_code=status)
