"""`Idempotency-Key` on a POST: the same request again gets the same answer, and nothing is done twice.

The answer is recorded under the caller and the key. The key is also handed to the flow, which derives ids from it: so
a process that dies between doing and recording does not do it again either.
"""

import hashlib
from collections.abc import Callable

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

from bot.core.errors import Conflict, HitlError, Invalid
from bot.flows.callers import Caller
from bot.flows.parts import Parts

HEADER = "Idempotency-Key"
LONGEST = 255


def once(
    request: Request,
    parts: Parts,
    caller: Caller,
    body: BaseModel | None,
    status: int,
    action: Callable[[str | None], BaseModel | None],
) -> Response:
    """The answer of `action`, done at most once per key. Raises `Invalid` when the key came with another request."""
    key = request.headers.get(HEADER)
    if key is None:
        return _answer(status, _text(action(None)))
    if not 1 <= len(key) <= LONGEST:
        raise Invalid(f"{HEADER} must have 1 to {LONGEST} characters", field=HEADER, code="idempotency_key_invalid")
    asked = _hash(request, body)
    with parts.store.unit() as unit:
        recorded = unit.replays.begin(caller.label, key, asked, parts.clock.now())
    if recorded is not None:
        if recorded.request_hash != asked:
            raise Invalid(f"this {HEADER} came with another request before", field=HEADER, code="idempotency_key_reused")
        if recorded.status is None:
            raise Conflict("the same request is being worked on: ask again in a moment", code="in_progress")
        return _answer(recorded.status, recorded.body or "", {"Idempotency-Replayed": "true"})
    try:
        text = _text(action(key))
    except HitlError:
        # Refused or failed, and may succeed later (a role, a state, GitLab): the key is free again.
        with parts.store.unit() as unit:
            unit.replays.forget(caller.label, key)
        raise
    with parts.store.unit() as unit:
        unit.replays.finish(caller.label, key, status, text)
    return _answer(status, text)


def _hash(request: Request, body: BaseModel | None) -> str:
    sent = "" if body is None else body.model_dump_json()
    return hashlib.sha256(f"{request.method} {request.url.path}\n{sent}".encode()).hexdigest()


def _text(result: BaseModel | None) -> str:
    return "" if result is None else result.model_dump_json()


def _answer(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text, status, headers, "application/json" if text else None)
