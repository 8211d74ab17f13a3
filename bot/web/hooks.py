"""`POST /webhooks/gitlab`: prove, read, store, answer. The status is an interface with GitLab, which pauses hooks that
answer 4xx or 5xx: 401 without the secret, 202 stored, 200 for everything else that is authentic, 503 when nothing can
be stored (DESIGN section 2, contract section 1).
"""

import logging

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.core.errors import StoreUnavailable, Unauthenticated
from bot.flows.parts import Parts
from bot.flows.receive import Received, receive, reread_projects
from bot.web.problems import answer_of
from bot.wire.gitlab import (
    HookSecret,
    NotForUs,
    Unreadable,
    is_signed,
    projects_of_signature,
    projects_of_token,
    read_delivery,
)

MOST_BYTES = 2 * 1024 * 1024
MOST_SIGNED_BYTES = 26 * 1024 * 1024  # GitLab sends at most 25 MB
log = logging.getLogger(__name__)


async def gitlab_hook(request: Request) -> Response:
    """One delivery. Nothing of the body is used before the sender proved to know the secret or signing token."""
    parts: Parts = request.app.state.parts
    secrets: tuple[HookSecret, ...] = request.app.state.hook_secrets
    if is_signed(request.headers):
        body, projects = await _signed_body(request, secrets)
        if not projects:
            return answer_of(Unauthenticated("webhook-signature does not hold", code="wrong_signature"))
    else:
        projects = projects_of_token(request.headers, secrets)
        if not projects:
            return answer_of(Unauthenticated("X-Gitlab-Token is missing or wrong", code="wrong_secret"))
        body = await _body(request, MOST_BYTES)
    try:
        return await run_in_threadpool(_take, parts, dict(request.headers), body, projects)
    except StoreUnavailable as error:
        log.error("a hook could not be stored: %s", error.message)
        return answer_of(error)


def _take(parts: Parts, headers: dict[str, str], body: bytes | None, projects: frozenset[str]) -> Response:
    if body is None:
        return _reread(parts, projects, "a body over 2 MiB")
    delivery = read_delivery(headers, body, instance=parts.instance)
    match delivery:
        case Unreadable(why):
            return _reread(parts, projects, why)
        case NotForUs(why):
            return JSONResponse({"status": "ignored", "why": why})
        case _:
            received = receive(parts, delivery, projects)
    if received is Received.NOT_OURS:
        return JSONResponse({"status": "ignored", "why": "no run waits there"})
    return JSONResponse({"status": received.value}, 202)


def _reread(parts: Parts, projects: frozenset[str], why: str) -> Response:
    """Something was said that cannot be taken in: read the waiting items of the sender's projects again instead."""
    marked = reread_projects(parts, projects, "hook")
    log.warning("a hook could not be read (%s): %d items will be read again", why, marked)
    return JSONResponse({"status": "will read again", "why": why})


async def _signed_body(request: Request, secrets: tuple[HookSecret, ...]) -> tuple[bytes | None, frozenset[str]]:
    """A signature is over the whole body, so it is read to be verified; what is too large to use is then None."""
    if all(secret.signing_token is None for secret in secrets):
        log.warning(
            "a delivery is signed, but no signing_token is configured: add signing_token to the project (or group hook) "
            "it comes from, or take the signing token off the webhook in GitLab"
        )
        return None, frozenset()
    body = await _body(request, MOST_SIGNED_BYTES)
    if body is None:
        return None, frozenset()
    projects = await run_in_threadpool(projects_of_signature, request.headers, body, secrets)
    return (body if len(body) <= MOST_BYTES else None), projects


async def _body(request: Request, most: int) -> bytes | None:
    """The body, or None when it is too large; then it is still read to its end, so that the sender sees our answer."""
    kept = bytearray()
    too_large = False
    async for chunk in request.stream():
        too_large = too_large or len(kept) + len(chunk) > most
        if not too_large:
            kept += chunk
    return None if too_large else bytes(kept)
