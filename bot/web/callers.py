"""Who sends this request: a flow with its key, or a person with their own GitLab token. Tokens are neither kept nor logged."""

from typing import Annotated

from fastapi import Depends, Request

from bot.core.errors import Unauthenticated
from bot.flows.callers import Caller, KeyCaller, PersonCaller
from bot.flows.keys import PREFIX, find_key
from bot.flows.parts import Parts


def parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


def caller_of(request: Request) -> Caller:
    """Raises `Unauthenticated`, and the `RemoteError` family when GitLab cannot be asked."""
    token = _token(request)
    parts = parts_of(request)
    if token.startswith(PREFIX):
        return KeyCaller(find_key(parts, token))
    return PersonCaller(parts.people.who(token))


def _token(request: Request) -> str:
    private = request.headers.get("private-token", "").strip()
    if private:
        return private
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer" and token.strip():
        return token.strip()
    message = "send `Authorization: Bearer hitl_…` (a flow's key), or your own GitLab token as `PRIVATE-TOKEN`"
    raise Unauthenticated(message, code="no_credential")


PartsOf = Annotated[Parts, Depends(parts_of)]
CallerOf = Annotated[Caller, Depends(caller_of)]
