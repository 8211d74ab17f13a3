"""The switchboard for people, over HTTP, under `/-/sandbox/people/{username}`: blocked, demoted, thrown out, token expired.

Needs no token, as the whole sandbox has no login; it is no part of GitLab's API.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.records import User
from bot.sandbox.refusals import NotFound
from bot.sandbox.visitor import require_own_page
from bot.sandbox.world import World

routes = APIRouter(prefix="/-/sandbox/people")


class Trouble(BaseModel):
    """What becomes of somebody; what is left out stays as it is.

    `role` 0 takes every membership of `project` (a full path) away; `tokens` says what all their tokens are from now on.
    """

    model_config = ConfigDict(extra="forbid")

    blocked: bool | None = None
    project: str | None = None
    role: int | None = None
    tokens: Literal["valid", "expired", "revoked"] | None = None


@routes.put("/{username}")
def change(request: Request, username: str, trouble: Trouble) -> Response:
    """Change somebody; 404 for a person or project that is not there."""
    require_own_page(request)
    world: World = request.app.state.tracker.world
    with world.lock:
        user = world.user_named(username)
        if user is None:
            raise NotFound("User")
        if trouble.blocked is not None:
            user.state = "blocked" if trouble.blocked else "active"
        if trouble.role is not None:
            _set_role(world, user, trouble.project, trouble.role)
        if trouble.tokens is not None:
            _set_tokens(world, user, trouble.tokens)
    return Response(status_code=204)


def _set_role(world: World, user: User, path: str | None, role: int) -> None:
    project = world.project_at(path or "")
    if project is None:
        raise NotFound("Project")
    if role == 0:
        world.remove_member(project, user)
    else:
        world.set_role(project, user, role)


def _set_tokens(world: World, user: User, state: str) -> None:
    """`expired`, `revoked`, or `valid` again."""
    yesterday: date = world.now().date() - timedelta(days=1)
    for token in world.tokens:
        if token.user_id == user.id:
            token.revoked = state == "revoked"
            token.expires_at = yesterday if state == "expired" else None
