"""The way to one GitLab instance with one token: every request goes through here, and what is asked a second time.

Reads are tried a few times; a write is sent once, because a failed answer may hide a stored note. Not here: how clients
are made (`clients`), what errors are called (`failures`), what answers mean (`parse`, `project`).
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import gitlab
import requests
from pydantic import SecretStr

from bot.adapters.gitlab.clients import PER_PAGE, Clients
from bot.adapters.gitlab.failures import FAILURES, Tried, translated
from bot.adapters.system import SystemClock
from bot.core.errors import RateLimited, RemoteError, Unavailable
from bot.ports import Clock

T = TypeVar("T")

TIMEOUT = 20.0  # seconds, for connecting and for each wait on the answer
TRIES = 3  # of a read
BACKOFF = 0.5  # seconds before the second try, doubled before the third, times 0.5 to 1.5
PATIENCE = timedelta(seconds=5)  # a longer Retry-After is waited for by the caller, who can do so without a thread
_END = object()


@dataclass(frozen=True)
class Answer:
    """A 2xx answer: its status and the JSON in it."""

    status: int
    data: Any


class Connection:
    """Sends requests for whoever holds `token`. May be shared between threads."""

    def __init__(
        self,
        url: str,
        token: SecretStr,
        *,
        timeout: float = TIMEOUT,
        ca_file: Path | None = None,
        proxy: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        clock: Clock | None = None,
    ) -> None:
        """Connects to nothing yet. Raises `ConfigError` for values that can never work."""
        self.url = url.rstrip("/")
        self._token = token
        self._clients = Clients(self.url, token, timeout=timeout, ca_file=ca_file, proxy=proxy)
        self._sleep = sleep
        self._jitter = jitter
        self._clock = clock or SystemClock()

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def call(
        self,
        method: str,
        path: str,
        *,
        write: bool,
        about: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """One request below `/api/v4`. Raises the `RemoteError` family, whose messages name `about`."""

        def send(client: gitlab.Gitlab) -> Answer:
            response = client.http_request(
                method.lower(),
                path,
                query_data=dict(query or {}),
                post_data=None if body is None else dict(body),
                obey_rate_limit=False,  # it would sleep for as long as it is told to, in this thread
            )
            return Answer(response.status_code, _json(response))

        return self._through(Tried(method, path, about, write), send)

    def pages(self, path: str, *, about: str) -> Iterator[Any]:
        """All rows of a list. The next page is asked for when this one is used up, so one is held at a time."""
        tried = Tried("GET", path, about, write=False)

        def begin(client: gitlab.Gitlab) -> Iterator[Any]:
            return iter(client.http_list(path, iterator=True, per_page=PER_PAGE, obey_rate_limit=False))

        rows = self._through(tried, begin)
        while (row := self._through(tried, lambda _: _next(rows))) is not _END:
            yield row

    def client(self) -> gitlab.Gitlab:
        """The client of the thread that asks."""
        return self._clients.mine().client

    def close(self) -> None:
        """Close what the clients of all threads hold open."""
        self._clients.close()

    def _through(self, tried: Tried, send: Callable[[gitlab.Gitlab], T]) -> T:
        mine = self._clients.mine()
        attempt, waited = 1, False
        while True:
            mine.headers = {}
            try:
                return send(mine.client)
            except FAILURES as error:
                trouble = translated(error, tried, headers=mine.headers, now=self._clock.now(), token=self._token)
                # After a page it cannot read, python-gitlab has moved on to the next: asking again would skip one.
                final = tried.write or isinstance(error, gitlab.GitlabParsingError)
                pause = None if final else self._pause(trouble, attempt, waited)
                if pause is None:
                    # A cause that repeats the token, because GitLab did, must not be printed with the rest.
                    raise trouble from (None if self._token.get_secret_value() in str(error) else error)
            waited = waited or isinstance(trouble, RateLimited)
            attempt += 1
            self._sleep(pause)

    def _pause(self, trouble: RemoteError, attempt: int, waited: bool) -> float | None:
        """Seconds before a read is tried again, None when it is not."""
        if isinstance(trouble, RateLimited):
            asked = trouble.retry_after
            return None if waited or asked is None or asked > PATIENCE else asked.total_seconds()
        if isinstance(trouble, Unavailable) and attempt < TRIES:
            return BACKOFF * float(2 ** (attempt - 1)) * (0.5 + self._jitter())
        return None


def _json(response: requests.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise gitlab.GitlabParsingError("not JSON") from error


def _next(rows: Iterator[Any]) -> Any:
    try:
        return next(rows, _END)
    except (KeyError, TypeError) as error:  # a page that is JSON, but not a list
        raise gitlab.GitlabParsingError("not a list") from error
