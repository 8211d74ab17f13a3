"""The switchboard over HTTP, under `/-/sandbox/faults`, and the middleware that enacts it.

Needs no token, as the whole sandbox has no login; it is no part of GitLab's API.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.sandbox.faults import Cut, Fault, Faults, HookFaultKind
from bot.sandbox.refusals import NotFound
from bot.sandbox.visitor import require_own_page

routes = APIRouter(prefix="/-/sandbox/faults")

# Ends the connection to a client, named by host and port.
Hangup = Callable[[tuple[str, int]], None]


class RequestRule(BaseModel):
    """A fault of API requests; see `faults.Fault`."""

    model_config = ConfigDict(extra="forbid")

    method: str = "*"
    path: str = "*"
    times: int | None = 1
    skip: int = 0
    status: int | None = None
    retry_after: int | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    delay: float = 0.0
    cut: Cut | None = None
    hold: float = 0.0


class HookRule(BaseModel):
    """A fault of hook deliveries; see `faults.HookFault`."""

    model_config = ConfigDict(extra="forbid")

    kind: HookFaultKind
    event: str = "*"
    times: int | None = 1
    skip: int = 0
    seconds: float = 0.5


@routes.get("")
def listed(request: Request) -> Response:
    """All rules with their hits."""
    return JSONResponse(list(_faults(request).listed()))


@routes.post("/requests")
def add_request_fault(request: Request, rule: RequestRule) -> Response:
    """Add a fault of API requests."""
    require_own_page(request)
    return JSONResponse({"id": _faults(request).add(**rule.model_dump()).id}, status_code=201)


@routes.post("/hooks")
def add_hook_fault(request: Request, rule: HookRule) -> Response:
    """Add a fault of hook deliveries."""
    require_own_page(request)
    return JSONResponse({"id": _faults(request).add_hook(**rule.model_dump()).id}, status_code=201)


@routes.delete("")
def clear(request: Request) -> Response:
    """Take every rule away."""
    require_own_page(request)
    _faults(request).clear()
    return Response(status_code=204)


@routes.delete("/{fault_id}")
def remove(request: Request, fault_id: int) -> Response:
    """Take one rule away."""
    require_own_page(request)
    if not _faults(request).remove(fault_id):
        raise NotFound("Fault")
    return Response(status_code=204)


def _faults(request: Request) -> Faults:
    faults: Faults = request.app.state.tracker.faults
    return faults


class FaultyApi:
    """Lets requests of the API run into the faults that are switched on."""

    def __init__(self, app: ASGIApp, faults: Faults, hangup: Hangup | None) -> None:
        self._app = app
        self._faults = faults
        self._hangup = hangup

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, delay or cut what a rule matches; pass everything else on."""
        fault = None
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            fault = self._faults.for_request(scope["method"], scope["path"])
        if fault is None:
            await self._app(scope, receive, send)
            return
        await asyncio.sleep(fault.delay)
        if fault.status is not None:
            await _answer(fault, fault.status)(scope, receive, send)
        elif fault.cut is None:
            await self._app(scope, receive, send)
        else:
            # The request has its effect; only its answer is lost.
            await self._app(scope, receive, _swallow)
            await asyncio.sleep(fault.hold)
            if fault.cut == "drop" and self._hangup and scope.get("client"):
                self._hangup(tuple(scope["client"]))
                # The server closes the connection on its next turn; until then nothing is sent.
                await asyncio.sleep(0.05)
            else:
                await _answer(fault, 502)(scope, receive, send)


async def _swallow(_: Message) -> None:
    return


def _answer(fault: Fault, status: int) -> Response:
    headers = dict(fault.headers)
    if fault.retry_after is not None:
        headers["Retry-After"] = str(fault.retry_after)
    if fault.body is not None:
        return Response(fault.body, status, headers)
    if status == 429:
        # The throttle answers plain text (section 4).
        return PlainTextResponse("Retry later\n", status, headers)
    return JSONResponse({"message": f"{status} from the sandbox's switchboard"}, status, headers)
