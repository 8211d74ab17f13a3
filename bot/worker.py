"""Keeps the work going in this process: drains when woken, and in any case every second; polls now and then.

APScheduler only ticks, in memory; what is due stands in the database, so nothing is lost with this process.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Literal

from apscheduler.schedulers.background import BackgroundScheduler

log = logging.getLogger(__name__)

DEAD_AFTER = 30.0  # seconds without a stamp while no row is in hand; the ticker wakes the thread every second


class Worker:
    """One thread that drains, and a ticker."""

    def __init__(self) -> None:
        self._due = Event()
        self._stopping = Event()
        self._scheduler = BackgroundScheduler(timezone="UTC")
        self._thread: Thread | None = None
        self._stamp = monotonic()
        self._began: float | None = None

    def wake(self) -> None:
        """There is work: do not wait for the next second."""
        self._due.set()

    def start(self, step: Callable[[], object], poll: Callable[[], object], poll_seconds: float) -> None:
        """Begin. `step` works off one row, and is true when there may be more; it and `poll` may be called at any time."""
        jobs = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        self._scheduler.add_job(self.wake, "interval", seconds=1, **jobs)
        self._scheduler.add_job(_guarded, "interval", seconds=poll_seconds, args=[poll], **jobs)
        self._scheduler.start()
        self._thread = Thread(target=self._work, args=[step], name="hitl-worker", daemon=True)
        self._thread.start()

    def pulse(self) -> tuple[Literal["alive", "idle", "dead"], float | None]:
        """How the thread is, and for how many seconds it has had its row in hand.

        A row may take long when GitLab does: that is busy, not dead.
        """
        thread, began = self._thread, self._began
        if thread is None or not thread.is_alive():
            return "dead", None
        if began is not None:
            return "alive", monotonic() - began
        return ("idle" if monotonic() - self._stamp <= DEAD_AFTER else "dead"), None

    def finish(self) -> None:
        """Take no further row; returns at once."""
        self._stopping.set()
        self._due.set()

    def stop(self) -> None:
        """Ends after the row in hand; the rest stays in the database."""
        if self._thread is None:
            return
        self.finish()
        self._scheduler.shutdown(wait=False)
        self._thread.join(timeout=30)
        self._thread = None

    def _work(self, step: Callable[[], object]) -> None:
        self.wake()
        while not self._stopping.is_set():
            self._due.wait()
            self._due.clear()
            self._stamp = monotonic()
            while not self._stopping.is_set() and self._one(step):
                pass

    def _one(self, step: Callable[[], object]) -> bool:
        """One row, stamped before and after; false when none is due, or it met a fault."""
        self._began = monotonic()
        try:
            return bool(_guarded(step))
        finally:
            self._began = None
            self._stamp = monotonic()


def _guarded(action: Callable[[], object]) -> object:
    """The one place that catches everything: a fault in one row must not end the thread that serves all others.

    The row itself stays claimed and comes back when its lease ends.
    """
    try:
        return action()
    except Exception:
        log.exception("the worker met a fault; it goes on with the next row")
        return None
