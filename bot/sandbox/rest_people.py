"""Routes about people, their tokens and the instance itself."""

from __future__ import annotations

from datetime import date, timedelta

from fastapi import APIRouter
from starlette.responses import Response

from bot.sandbox import auth, entities, rules
from bot.sandbox.call import AskUnscoped, Call, shown
from bot.sandbox.records import Token
from bot.sandbox.refusals import Invalid, NotFound

routes = APIRouter(prefix="/api/v4")

_NEW_EXPIRY = timedelta(days=7)
_LONGEST_EXPIRY = timedelta(days=365)


@routes.get("/version")
@routes.get("/metadata")
def metadata(call: AskUnscoped) -> Response:
    """The version the sandbox follows."""
    auth.require_scope(call.token, "api", "read_api", "read_user")
    return shown(
        {
            "version": call.world.version,
            "revision": "sandbox",
            "kas": {"enabled": False, "externalUrl": None, "version": None},
            "enterprise": False,
        }
    )


@routes.get("/user")
def own_user(call: AskUnscoped) -> Response:
    """The user of the token."""
    auth.require_scope(call.token, "api", "read_api", "read_user")
    return shown(entities.user_own(call.world, call.user))


@routes.get("/users")
def users(call: AskUnscoped) -> Response:
    """Users by exact name, or all of them."""
    auth.require_scope(call.token, "api", "read_api", "read_user")
    with call.world.lock:
        found = sorted(call.world.users.values(), key=lambda user: user.id, reverse=True)
        if name := call.params.text("username"):
            found = [user for user in found if user.username.casefold() == name.casefold()]
        if search := call.params.text("search"):
            found = [u for u in found if search.casefold() in f"{u.username} {u.name}".casefold()]
        return call.page(found, lambda user: entities.user_basic(call.world, user))


@routes.get("/users/{user_id}")
def user(call: AskUnscoped, user_id: int) -> Response:
    """One user, with the bot flag."""
    auth.require_scope(call.token, "api", "read_api", "read_user")
    with call.world.lock:
        found = call.world.users.get(user_id)
        if found is None:
            raise NotFound("User")
        return shown(entities.user_full(call.world, found))


@routes.get("/personal_access_tokens/self")
def own_token(call: AskUnscoped) -> Response:
    """The token that asks; no scope is needed to look at oneself."""
    with call.world.lock:
        return shown(_token(call, call.token))


@routes.post("/personal_access_tokens/self/rotate")
def rotate(call: AskUnscoped) -> Response:
    """A new token for the old one, whose value is returned this once."""
    return _rotated(call)


@routes.post("/projects/{project_id}/access_tokens/self/rotate")
def rotate_project_token(call: AskUnscoped, project_id: int) -> Response:
    """The same for the token of a project's bot user."""
    with call.world.lock:
        project = call.project(project_id)
        call.require(call.user.bot)
        level = rules.role(project, call.user)
    return _rotated(call, access_level=level, resource_type="project", resource_id=project.id)


def _rotated(call: Call, **resource: object) -> Response:
    auth.require_scope(call.token, "api", "self_rotate")
    world, old = call.world, call.token
    with world.lock:
        expires_at = _expiry(call, world.now().date())
        value = world.add_token(call.user, old.scopes, expires_at, name=old.name, family=old.family)
        old.revoked = old.rotated = True
        fresh = next(token for token in world.tokens if token.value == value)
        return shown({**_token(call, fresh), **resource, "token": value})


def _expiry(call: Call, today: date) -> date:
    asked = call.params.day("expires_at")
    if asked is not None and not today < asked <= today + _LONGEST_EXPIRY:
        raise Invalid("400 Bad request - Expiration date must be in the next 365 days")
    return asked or today + _NEW_EXPIRY


def _token(call: Call, token: Token) -> dict[str, object]:
    return entities.token(token, auth.is_active(token, call.world.now().date()))
