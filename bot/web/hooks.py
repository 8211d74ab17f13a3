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
from bot.wire.gitlab import HookSecret, NotForUs, Unreadable, projects_of_sender, read_delivery

MOST_BYTES = 2 * 1024 * 1024
log = logging.getLogger(__name__)


async def gitlab_hook(request: Request) -> Response:
    """One delivery. Nothing of the body is looked at before the secret is known to be right."""
    parts: Parts = request.app.state.parts
    secrets: tuple[HookSecret, ...] = request.app.state.hook_secrets
    projects = projects_of_sender(request.headers, secrets)
    if not projects:
        return answer_of(Unauthenticated("X-Gitlab-Token is missing or wrong", code="wrong_secret"))
    body = await _body(request)
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


async def _body(request: Request) -> bytes | None:
    """The body, or None when it is too large; then it is still read to its end, so that the sender sees our answer."""
    kept = bytearray()
    too_large = False
    async for chunk in request.stream():
        too_large = too_large or len(kept) + len(chunk) > MOST_BYTES
        if not too_large:
            kept += chunk
    return None if too_large else bytes(kept)
