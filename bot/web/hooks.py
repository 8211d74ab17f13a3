"""`POST /webhooks/gitlab`: prove, read, store, answer. The status is an interface with GitLab, which pauses hooks that
answer 4xx or 5xx: 401 without the secret, 202 stored, 200 for everything else that is authentic, 503 when nothing can
be stored (DESIGN section 2, contract section 1).
"""

import logging
import re
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from structlog.contextvars import bound_contextvars

from bot.core.errors import StoreUnavailable, Unauthenticated
from bot.flows.parts import Parts
from bot.flows.receive import Received, receive, reread_projects
from bot.web.metrics import Metrics
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
_KEY = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
log = logging.getLogger(__name__)


async def gitlab_hook(request: Request) -> Response:
    """One delivery. Nothing of the body is used before the sender proved to know the secret or signing token."""
    parts: Parts = request.app.state.parts
    metrics: Metrics = request.app.state.metrics
    secrets: tuple[HookSecret, ...] = request.app.state.hook_secrets
    if is_signed(request.headers):
        body, projects = await _signed_body(request, secrets)
        refusal = Unauthenticated("webhook-signature does not hold", code="wrong_signature")
    else:
        body, projects = None, projects_of_token(request.headers, secrets)
        refusal = Unauthenticated("X-Gitlab-Token is missing or wrong", code="wrong_secret")
        if projects:
            body = await _body(request, MOST_BYTES)
    if not projects:
        metrics.hook("wrong_secret")
        return answer_of(refusal)
    with bound_contextvars(**_named(request.headers)):
        try:
            outcome, answer = await run_in_threadpool(_take, parts, dict(request.headers), body, projects)
        except StoreUnavailable as error:
            log.error("a hook could not be stored: %s", error.message)
            outcome, answer = "not_stored", answer_of(error)
        metrics.hook(outcome)
        log.debug("a hook: %s", outcome)
    return answer


def _take(parts: Parts, headers: dict[str, str], body: bytes | None, projects: frozenset[str]) -> tuple[str, Response]:
    """What became of it, in a word that is counted, and the answer."""
    if body is None:
        return "unreadable", _reread(parts, projects, "a body over 2 MiB")
    delivery = read_delivery(headers, body, instance=parts.instance)
    match delivery:
        case Unreadable(why):
            return "unreadable", _reread(parts, projects, why)
        case NotForUs(why):
            return "ignored", JSONResponse({"status": "ignored", "why": why})
        case _:
            received = receive(parts, delivery, projects)
    if received is Received.NOT_OURS:
        return received.value, JSONResponse({"status": "ignored", "why": "no run waits there"})
    return received.value, JSONResponse({"status": received.value}, 202)


def _reread(parts: Parts, projects: frozenset[str], why: str) -> Response:
    """Something was said that cannot be taken in: read the waiting items of the sender's projects again instead."""
    marked = reread_projects(parts, projects, "hook")
    log.warning("a hook could not be read (%s): %d items will be read again", why, marked)
    return JSONResponse({"status": "will read again", "why": why})


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    """The delivery's key, for the log; only one that looks like an id, since anything can be in a header."""
    key = headers.get("webhook-id") or headers.get("idempotency-key") or headers.get("x-gitlab-event-uuid") or ""
    return {"delivery": key} if _KEY.fullmatch(key) else {}


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
