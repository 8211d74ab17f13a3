"""The queue in front of hook delivery: a thread, due times, and the faults of the way.

It knows order and time only; sending and counting belong to `hooks`.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from threading import Condition, Thread

from bot.sandbox.faults import Faults
from bot.sandbox.records import HookDelivery

# A reordered delivery with nothing behind it leaves after this long.
LONGEST_HOLD = 1.0


class Post:
    """Hands deliveries to `deliver` in order of their due time; one at a time."""

    def __init__(self, deliver: Callable[[HookDelivery], None], faults: Faults) -> None:
        self._deliver = deliver
        self._faults = faults
        self._changed = Condition()
        self._queue: list[tuple[float, int, HookDelivery]] = []
        self._held: list[tuple[float, HookDelivery]] = []
        self._count = 0
        self._busy = False
        self._stopping = False
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to deliver in a background thread."""
        self._stopping = False
        self._thread = Thread(target=self._run, name="sandbox-hooks", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the delivery in hand."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def put(self, delivery: HookDelivery) -> None:
        """Queue a delivery, unless a fault says otherwise."""
        fault = self._faults.for_delivery(delivery.event)
        kind = fault.kind if fault else None
        with self._changed:
            if kind == "drop":
                return
            if kind == "reorder":
                self._held.append((time.monotonic() + LONGEST_HOLD, delivery))
                self._changed.notify_all()
                return
            self._push(delivery, fault.seconds if fault and kind == "delay" else 0.0)
            if kind == "double":
                self._push(delivery, 0.0)
            self._release()

    def flush(self, timeout: float) -> bool:
        """Wait until nothing is queued, held or in hand; without a thread, deliver here."""
        until = time.monotonic() + timeout
        with self._changed:
            self._release()
            if self._thread is not None:
                if not self._changed.wait_for(self._is_idle, timeout):
                    raise TimeoutError(f"hooks were still being delivered after {timeout} s")
                return True
        while not self._is_idle():
            if time.monotonic() > until:
                raise TimeoutError(f"hooks were still being delivered after {timeout} s")
            self._step()
        return True

    def _push(self, delivery: HookDelivery, delay: float) -> None:
        self._count += 1
        heapq.heappush(self._queue, (time.monotonic() + delay, self._count, delivery))
        self._changed.notify_all()

    def _release(self) -> None:
        held, self._held = self._held, []
        for _, delivery in held:
            self._push(delivery, 0.0)

    def _is_idle(self) -> bool:
        return not self._queue and not self._held and not self._busy

    def _run(self) -> None:
        while not self._stopping:
            self._step()

    def _step(self) -> None:
        with self._changed:
            now = time.monotonic()
            if self._held and self._held[0][0] <= now:
                self._release()
            due = [queue[0][0] for queue in (self._queue, self._held) if queue]
            if not self._queue or self._queue[0][0] > now:
                self._changed.wait(min(due) - now if due else None)
                return
            delivery = heapq.heappop(self._queue)[2]
            self._busy = True
        try:
            self._deliver(delivery)
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
