"""Answers kept for a while, so that a long thread asks for each person once. Not here: anything that is never asked again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, TypeVar

from bot.ports import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class _Kept(Generic[V]):
    asked_at: datetime
    value: V


class Cache(Generic[K, V]):
    """At most `size` values, none older than `lifetime`. Failures are not kept; no lock is held while asking."""

    def __init__(self, lifetime: timedelta, size: int, clock: Clock) -> None:
        self._lifetime = lifetime
        self._size = size
        self._clock = clock
        self._values: OrderedDict[K, _Kept[V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, ask: Callable[[], V], *, fresh: bool = False) -> V:
        """The kept value, or what `ask` returns; `fresh` always asks."""
        now = self._clock.now()
        if not fresh:
            with self._lock:
                kept = self._values.get(key)
            if kept is not None and timedelta(0) <= now - kept.asked_at < self._lifetime:
                return kept.value
        value = ask()
        self._keep(key, _Kept(now, value))
        return value

    def _keep(self, key: K, new: _Kept[V]) -> None:
        with self._lock:
            known = self._values.get(key)
            if known is not None and known.asked_at > new.asked_at:
                return  # somebody asked later and was answered sooner
            self._values[key] = new
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)
