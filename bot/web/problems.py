"""From an error of ours to an answer: one table, one shape (RFC 9457 problem+json). Not here: raising anything."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bot.core.errors import (
    Conflict,
    Forbidden,
    HitlError,
    Invalid,
    NotFound,
    RateLimited,
    RemoteError,
    StoreUnavailable,
    Unauthenticated,
    VersionConflict,
)

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request", 401: "Not authenticated", 403: "Not allowed", 404: "Not found", 405: "Method not allowed",
    409: "Conflict", 413: "Too large", 422: "Invalid", 429: "Too many", 500: "Our fault", 503: "Try again later",
}  # fmt: skip


def install(app: FastAPI) -> None:
    """Let the application answer every error in this shape."""
    app.add_exception_handler(HitlError, _ours)
    app.add_exception_handler(RequestValidationError, _body)
    app.add_exception_handler(HTTPException, _starlette)


def status_of(error: HitlError) -> int:
    """The one table from the error tree to HTTP."""
    match error:
        case Unauthenticated():
            return 401
        case Forbidden():
            return 403
        case NotFound():
            return 404
        case Conflict():
            return 409
        case Invalid():
            return 422
        case RemoteError() | VersionConflict() | StoreUnavailable():
            return 503
        case _:
            return 500


def problem(status: int, detail: str, code: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    body = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }
    return JSONResponse(body, status, headers, MEDIA_TYPE)


def answer_of(error: HitlError) -> JSONResponse:
    """An error as the answer the caller gets."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        asked = error.retry_after if isinstance(error, RateLimited) else None
        headers["Retry-After"] = str(max(1, int(asked.total_seconds()))) if asked is not None else "5"
    more = {"field": error.field} if isinstance(error, Invalid) else {}
    return problem(status, error.message, error.code, headers, **more)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HitlError), "registered for this type only"
    return answer_of(error)


async def _body(request: Request, error: Exception) -> JSONResponse:
    """A body that breaks the schema: every field by name; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError), "registered for this type only"
    errors = [
        {"field": ".".join(str(part) for part in found["loc"][1:]), "message": found["msg"].removeprefix("Value error, ")}
        for found in error.errors()
    ]
    first = errors[0]
    return problem(422, f"{first['field'] or 'body'}: {first['message']}", "invalid", None, field=first["field"], errors=errors)


async def _starlette(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException), "registered for this type only"
    headers = dict(error.headers) if error.headers else None
    return problem(
        error.status_code, str(error.detail), TITLES.get(error.status_code, "error").lower().replace(" ", "_"), headers
    )
