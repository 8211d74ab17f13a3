"""`/health/live` and `/health/ready`: is this process there, and can it do its work? Answered without asking GitLab.

Numbers, ids of nobody, reason codes and the paths of configured projects; no texts, no people. The last trouble with
GitLab is what this process met since it started; another process knows its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot import __version__
from bot.core.errors import RateLimited, RemoteError, StoreUnavailable
from bot.flows.parts import Event
from bot.ports import Clock, QueueCounts, Store, Unit

Pulse = Callable[[], tuple[Literal["alive", "idle", "dead"], float | None]]


@dataclass(frozen=True)
class Trouble:
    """The last failure towards GitLab for a project, and until when a rate limit holds."""

    code: str
    at: datetime
    until: datetime | None


class Health:
    """What `/health/ready` tells. `note` listens to the flows, as `Parts.note` does."""

    def __init__(self, store: Store, clock: Clock, paths: tuple[str, ...], pulse: Pulse) -> None:
        self._store = store
        self._clock = clock
        self._paths = paths
        self._pulse = pulse
        self._troubles: dict[int, Trouble] = {}
        self._lock = Lock()

    def note(self, event: str, fields: dict[str, object]) -> None:
        """Remember the last trouble of a project until something works there again."""
        kind, _, rest = str(fields.get("lane", "")).partition(":")
        if kind != "item" or event not in (Event.DONE, Event.RETRY, Event.GIVEN_UP):
            return  # a resume handed over elsewhere says nothing about GitLab
        project_id = int(rest.partition(":")[0])
        code, pause = str(fields.get("code", "")), fields.get("pause")
        with self._lock:
            now, known = self._clock.now(), self._troubles.get(project_id)
            if event != Event.DONE:
                if code.startswith(RemoteError.code):
                    until = now + pause if code == RateLimited.code and isinstance(pause, timedelta) else None
                    self._troubles[project_id] = Trouble(code, now, until)
            elif known is not None and (known.until is None or known.until <= now):
                del self._troubles[project_id]  # a limit holds for what it was met with, whatever else works meanwhile

    def told(self) -> tuple[bool, dict[str, Any]]:
        """Whether this process can do its work, and the parts that say why."""
        state, busy = self._pulse()
        worker: dict[str, Any] = {"status": state}
        if busy is not None and busy >= 1:
            worker["detail"] = f"busy for {busy:.0f} s"
        parts: dict[str, Any] = {"database": {"status": "ok"}, "worker": worker}
        try:
            with self._store.snapshot() as unit:
                now = self._clock.now()
                parts |= {"inbox": _shown(unit.inbox.counts(now)), "outbox": _shown(unit.outbox.counts(now))}
                parts["projects"] = self._projects(unit, now)
        except StoreUnavailable as error:
            # The message names a file or host, which is nobody's business here; the log has it.
            parts["database"] = {"status": "unavailable", "code": error.code}
        return parts["database"]["status"] == "ok" and state != "dead", parts

    def _projects(self, unit: Unit, now: datetime) -> dict[str, Any]:
        with self._lock:
            troubles = dict(self._troubles)
        shown: dict[str, Any] = {path: {"error": None} for path in self._paths}
        for project_id, trouble in troubles.items():
            runs = unit.runs.listed(project_ids=[project_id])
            if not runs:
                continue
            limited = None if trouble.until is None or trouble.until <= now else trouble.until.isoformat()
            shown[runs[0].project_path] = {
                "error": trouble.code,
                "at": trouble.at.isoformat(),
                "rate_limited_until": limited,
            }
        return shown


def routes() -> list[BaseRoute]:
    """GET and HEAD."""
    return [Route("/health/live", _live), Route("/health/ready", _ready)]


async def _live(request: Request) -> Response:
    return JSONResponse({"status": "live", "version": __version__})


def _ready(request: Request) -> Response:
    health: Health = request.app.state.health
    able, parts = health.told()
    shown = {"status": "ready" if able else "not_ready", "version": __version__, **parts}
    return JSONResponse(shown, 200 if able else 503, {"Cache-Control": "no-store"})


def _shown(counts: QueueCounts) -> dict[str, Any]:
    oldest = None if counts.oldest_due is None else counts.oldest_due.isoformat()
    return {"due": counts.due, "waiting": counts.waiting, "parked": counts.parked, "oldest_due": oldest}
