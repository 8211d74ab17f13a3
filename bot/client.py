"""A small client for flows: start a run, ask, wait for Continue, say how it ended. Typed, synchronous, on requests.

Raises the error tree of `bot.core.errors`, whose messages are the server's. Not here: retry loops around a whole flow.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import requests

from bot.core.errors import Conflict, Forbidden, HitlError, Invalid, NotFound, RateLimited, Unauthenticated, Unavailable

CONNECT = 10.0
POLL = 25.0  # seconds one request waits for Continue; below the usual idle limits of proxies


class Client:
    """`url` is the bot's, `token` a flow's key (`hitl_…`) or a person's own GitLab token."""

    def __init__(self, url: str, token: str) -> None:
        self._base = f"{url.rstrip('/')}/api/v1"
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"

    def start(self, item: str, *, flow: str, goal: str, owner: str | None = None, **more: Any) -> dict[str, Any]:
        """The new run on `item` (`group/project#12` or its URL). `more`: `id`, `supersede`."""
        return self._post("/runs", {"item": item, "flow": flow, "goal": goal, "owner": owner, **more})

    def ask(self, run: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Ask on the item: where each question stands."""
        placed: list[dict[str, Any]] = self._post(f"/runs/{run}/questions", {"questions": list(questions)})["questions"]
        return placed

    def questions(self, run: str) -> dict[str, Any]:
        """`{"total", "open", "questions"}` as they were last read."""
        return self._get(f"/runs/{run}/questions")

    def run(self, run: str) -> dict[str, Any]:
        return self._get(f"/runs/{run}")

    def runs(self, **filters: str | int) -> list[dict[str, Any]]:
        """The runs this token may see; filters: `project`, `item_iid`."""
        runs: list[dict[str, Any]] = self._get("/runs", filters)["runs"]
        return runs

    def press_continue(self, run: str) -> dict[str, Any]:
        """Continue: `{"resume", "status"}`."""
        return self._post(f"/runs/{run}/continue", {})

    def wait(self, run: str, seconds: float = POLL) -> dict[str, Any] | None:
        """The resume document, None if nobody pressed Continue within `seconds` (one request; call it again)."""
        answer = self._send("GET", f"/runs/{run}/resume", params={"wait": min(seconds, POLL)}, timeout=(CONNECT, POLL + 30))
        return None if answer.status_code == 204 else _object(answer)

    def finish(
        self, run: str, *, outcome: str = "finished", reason: str | None = None, url: str | None = None
    ) -> dict[str, Any]:
        return self._post(f"/runs/{run}/finish", {"outcome": outcome, "reason": reason, "url": url})

    def cancel(self, run: str, reason: str | None = None) -> dict[str, Any]:
        return self._post(f"/runs/{run}/cancel", {"reason": reason})

    def _get(self, path: str, params: Mapping[str, str | int] | None = None) -> dict[str, Any]:
        return _object(self._send("GET", path, params=params, timeout=(CONNECT, 30)))

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sent once more after a lost connection, under the same key, so that nothing is done twice."""
        headers = {"Idempotency-Key": uuid4().hex}
        try:
            answer = self._send("POST", path, json=body, headers=headers, timeout=(CONNECT, 60))
        except Unavailable as error:
            if not error.doubtful:
                raise
            answer = self._send("POST", path, json=body, headers=headers, timeout=(CONNECT, 60))
        return _object(answer)

    def _send(self, method: str, path: str, **options: Any) -> requests.Response:
        try:
            answer = self._session.request(method, self._base + path, **options)
        except requests.ConnectTimeout as error:
            raise Unavailable(f"the bot at {self._base} does not answer: is it running?") from error
        except requests.RequestException as error:
            message = f"no answer from the bot at {self._base} ({type(error).__name__}): is `hitl serve` running there?"
            raise Unavailable(message, doubtful=True) from error
        if answer.status_code >= 400:
            raise _error(answer)
        return answer


def _object(answer: requests.Response) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    return body


def _error(answer: requests.Response) -> HitlError:
    try:
        body = answer.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    detail = str(body.get("detail") or f"the bot answered {answer.status_code}")
    code = str(body.get("code") or "error")
    match answer.status_code:
        case 401:
            return Unauthenticated(detail, code=code)
        case 403:
            return Forbidden(detail, code=code)
        case 404:
            return NotFound(detail, code=code)
        case 409:
            return Conflict(detail, code=code)
        case 429:
            return RateLimited(detail, retry_after=timedelta(seconds=5))
        case status if status >= 500:
            return Unavailable(detail)
        case _:
            return Invalid(detail, field=str(body.get("field") or ""), code=code)
