"""Keeps the work going in this process: drains when woken, and in any case every second; polls now and then.

APScheduler only ticks, in memory; what is due stands in the database, so nothing is lost with this process.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread

from apscheduler.schedulers.background import BackgroundScheduler

log = logging.getLogger(__name__)


class Worker:
    """One thread that drains, and a ticker."""

    def __init__(self) -> None:
        self._due = Event()
        self._stopping = Event()
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._thread: Thread | None = None

    def wake(self) -> None:
        """There is work: do not wait for the next second."""
        self._due.set()

    def start(self, drain: Callable[[], object], poll: Callable[[], object], poll_seconds: float) -> None:
        """Begin. `drain` and `poll` may be called again at any time."""
        jobs = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        self._scheduler.add_job(self.wake, "interval", seconds=1, **jobs)
        self._scheduler.add_job(_guarded, "interval", seconds=poll_seconds, args=[poll], **jobs)
        self._scheduler.start()
        self._thread = Thread(target=self._work, args=[drain], name="hitl-worker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends after the row in hand; the rest stays in the database."""
        if self._thread is None:
            return
        self._stopping.set()
        self._due.set()
        self._scheduler.shutdown(wait=False)
        self._thread.join(timeout=30)
        self._thread = None

    def _work(self, drain: Callable[[], object]) -> None:
        self.wake()
        while True:
            self._due.wait()
            self._due.clear()
            if self._stopping.is_set():
                return
            _guarded(drain)


def _guarded(action: Callable[[], object]) -> None:
    """The one place that catches everything: a fault in one row must not end the thread that serves all others.

    The row itself stays claimed and comes back when its lease ends.
    """
    try:
        action()
    except Exception:
        log.exception("the worker met a fault; it goes on with the next row")
