"""`/api/v1/runs/{run}/continue` and `/resume`: pressing Continue, and the flow fetching what came of it."""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool

from bot.core.errors import Conflict, Forbidden, NotFound
from bot.core.goal import ResumeDocument
from bot.core.models import RunStatus
from bot.flows.callers import Caller, KeyCaller, visible_run
from bot.flows.parts import Parts
from bot.flows.resume import Pressed, press, presser_of, take
from bot.web.callers import CallerOf, PartsOf
from bot.web.once import once
from bot.web.waiting import Waiters

LONGEST_WAIT = 60
router = APIRouter(prefix="/api/v1")


class ContinueBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    force: bool = False


class ShownResume(BaseModel):
    """The resume of this round; a second press gets the same."""

    resume: str
    status: RunStatus


@router.post("/runs/{run_id}/continue", status_code=202, response_model=ShownResume)
def continue_run(request: Request, run_id: str, caller: CallerOf, parts: PartsOf, body: ContinueBody | None = None) -> Response:
    """End the round with what the threads say now. Open questions do not block."""

    def action(token: str | None) -> ShownResume:
        mine = None if token is None else f"{caller.label}\0{token}"
        pressed = _pressed(parts, caller, run_id, mine)
        return ShownResume(resume=pressed.resume_id, status=pressed.status)

    return once(request, parts, caller, body, 202, action)


def _pressed(parts: Parts, caller: Caller, run_id: str, token: str | None) -> Pressed:
    """Who may not see runs here may still continue one on their own item; refused, they learn nothing of it."""
    try:
        visible_run(parts, caller, run_id)
    except NotFound:
        if isinstance(caller, KeyCaller):
            raise
        try:
            return press(parts, run_id, presser_of(caller), token=token)
        except (Forbidden, Conflict) as error:
            raise NotFound(f"there is no run {run_id}", code="run_not_found") from error
    return press(parts, run_id, presser_of(caller), token=token)


@router.get(
    "/runs/{run_id}/resume",
    responses={200: {"model": ResumeDocument}, 204: {"description": "Nobody has pressed Continue yet"}},
    response_class=Response,
)
async def get_resume(
    request: Request,
    run_id: str,
    caller: CallerOf,
    parts: PartsOf,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="seconds to wait for Continue")] = 0,
    resume: Annotated[str | None, Query(description="an older one, by its id")] = None,
) -> Response:
    """The resume document: the same bytes any number of times. 204 while nobody pressed Continue."""
    waiters: Waiters = request.app.state.waiters
    run = await run_in_threadpool(visible_run, parts, caller, run_id)
    until = time.monotonic() + wait
    async with waiters.seat(run_id) as changed:
        while True:
            document = await run_in_threadpool(take, parts, caller, run, resume)
            if document is not None:
                return Response(document, 200, {"Cache-Control": "no-store"}, "application/json")
            left = until - time.monotonic()
            if left <= 0 or waiters.closing or await request.is_disconnected():
                return Response(status_code=204)
            await changed(left)
