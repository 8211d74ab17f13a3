"""Tells whoever waits in this process that a run changed. Not a queue: waiters look at the store again themselves."""

from collections.abc import Callable
from threading import Lock

Listener = Callable[[str], None]


class Announcements:
    """Listeners by subscription; announcing calls each with the run's id."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._lock = Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` from now on; the result ends that."""
        with self._lock:
            self._listeners.add(listener)
        return lambda: self._unsubscribe(listener)

    def announce(self, run_id: str) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(run_id)

    def _unsubscribe(self, listener: Listener) -> None:
        with self._lock:
            self._listeners.discard(listener)
