"""Writers of one process take turns, first come first served, before they ask the database for its write lock.

SQLite's own waiting is a sleep between tries: under load one writer can starve for seconds while others go on. And a
writer that waits here holds no connection. Not here: turns between processes; those are the database's (`engine`).
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Lock

from bot.core.errors import StoreUnavailable


class Turns:
    """The front of the line has the turn."""

    def __init__(self, patience: timedelta) -> None:
        self._patience = patience
        self._line: deque[Event] = deque()
        self._guard = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Raises `StoreUnavailable` when it did not come within the patience."""
        mine = Event()
        with self._guard:
            self._line.append(mine)
            if self._line[0] is mine:
                mine.set()
        try:
            if not mine.wait(self._patience.total_seconds()):
                seconds = self._patience.total_seconds()
                raise StoreUnavailable(f"the database is busy: no turn to write within {seconds:g} s, try again")
            yield
        finally:
            with self._guard:
                self._line.remove(mine)
                if self._line:
                    self._line[0].set()
