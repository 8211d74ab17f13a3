"""Requests that wait for a run to change, without a thread or a session. At most `MOST` at once.

Waiters look at the store again when told, and every second in case another process changed it.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException

MOST = 1_000
LOOK_AGAIN = 1.0  # seconds

Subscribe = Callable[[Callable[[str], None]], Callable[[], None]]


class Waiters:
    """The waiting requests of one event loop. `subscribe` connects it to what other threads announce."""

    def __init__(self, subscribe: Subscribe) -> None:
        self._subscribe = subscribe
        self._events: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._count = 0
        self.closing = False

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """While entered, announcements reach the loop this runs in."""
        loop = asyncio.get_running_loop()
        unsubscribe = self._subscribe(lambda run_id: _from_thread(loop, self._changed, run_id))
        try:
            yield
        finally:
            unsubscribe()
            self.closing = True
            for events in self._events.values():
                for event in events:
                    event.set()

    @asynccontextmanager
    async def seat(self, run_id: str) -> AsyncIterator[Callable[[float], "asyncio.Future[None]"]]:
        """A place to wait for `run_id`. Answers 429 when all are taken."""
        if self._count >= MOST:
            raise HTTPException(429, f"{MOST} requests wait already: ask again later", {"Retry-After": "5"})
        event = asyncio.Event()
        self._count += 1
        self._events[run_id].add(event)
        try:
            yield lambda seconds: asyncio.ensure_future(_until(event, min(seconds, LOOK_AGAIN)))
        finally:
            self._count -= 1
            self._events[run_id].discard(event)
            if not self._events[run_id]:
                del self._events[run_id]

    def _changed(self, run_id: str) -> None:
        for event in self._events.get(run_id, ()):
            event.set()


def _from_thread(loop: asyncio.AbstractEventLoop, action: Callable[[str], None], run_id: str) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(action, run_id)


async def _until(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
    event.clear()
