"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta
from threading import Lock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class MovableClock:
    """`now()` is what `move` made it; each call is a microsecond later, so that order can be told."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._lock = Lock()

    def now(self) -> datetime:
        with self._lock:
            self._now += timedelta(microseconds=1)
            return self._now

    def move(self, **by: float) -> None:
        """`clock.move(days=3)`."""
        with self._lock:
            self._now += timedelta(**by)
