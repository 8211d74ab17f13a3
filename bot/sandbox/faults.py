"""The switchboard for faults: what goes wrong, how often, and where; it causes none by itself.

`middleware` enacts the request faults on the API, `hooks` asks for the hook faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from threading import Lock
from typing import Literal

Cut = Literal["drop", "bad_gateway"]
HookFaultKind = Literal["drop", "double", "delay", "reorder"]


@dataclass
class Fault:
    """A fault of API requests that match method and path pattern; `times` None is for ever.

    `status` answers without doing anything; `delay` waits first; `cut` lets the request have
    its effect and then, after `hold` seconds, drops the connection or answers 502.
    """

    id: int
    method: str = "*"
    path: str = "*"
    times: int | None = 1
    skip: int = 0
    status: int | None = None
    retry_after: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    delay: float = 0.0
    cut: Cut | None = None
    hold: float = 0.0
    hits: int = 0


@dataclass
class HookFault:
    """A fault of hook deliveries: dropped, doubled, late, or sent after the next one."""

    id: int
    kind: HookFaultKind
    event: str = "*"
    times: int | None = 1
    skip: int = 0
    seconds: float = 0.5
    hits: int = 0


class Faults:
    """All rules, in the order they were added; the first that matches is used."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: list[Fault] = []
        self._hooks: list[HookFault] = []
        self._ids = 0

    def add(
        self,
        method: str = "*",
        path: str = "*",
        times: int | None = 1,
        skip: int = 0,
        status: int | None = None,
        retry_after: int | None = None,
        headers: dict[str, str] | None = None,
        body: str | None = None,
        delay: float = 0.0,
        cut: Cut | None = None,
        hold: float = 0.0,
    ) -> Fault:
        """Let matching API requests fail; `path` is a pattern such as `*/issues/12/notes`."""
        with self._lock:
            fault = Fault(
                self._next(), method.upper(), path, times, skip, status, retry_after,
                dict(headers or {}), body, delay, cut, hold,
            )  # fmt: skip
            self._requests.append(fault)
            return fault

    def add_hook(
        self,
        kind: HookFaultKind,
        event: str = "*",
        times: int | None = 1,
        skip: int = 0,
        seconds: float = 0.5,
    ) -> HookFault:
        """Let matching hook deliveries go wrong; `event` is a pattern such as `*Note Hook`."""
        with self._lock:
            fault = HookFault(self._next(), kind, event, times, skip, seconds)
            self._hooks.append(fault)
            return fault

    def remove(self, fault_id: int) -> bool:
        """Take one rule away; False if there is none of that id."""
        with self._lock:
            before = len(self._requests) + len(self._hooks)
            self._requests = [fault for fault in self._requests if fault.id != fault_id]
            self._hooks = [fault for fault in self._hooks if fault.id != fault_id]
            return len(self._requests) + len(self._hooks) < before

    def clear(self) -> None:
        """Take every rule away."""
        with self._lock:
            self._requests.clear()
            self._hooks.clear()

    def for_request(self, method: str, path: str) -> Fault | None:
        """The fault this request runs into; counts it."""
        with self._lock:
            for fault in self._requests:
                matches = fault.method in ("*", method.upper()) and fnmatchcase(path, fault.path)
                if matches and _due(fault):
                    return fault
            return None

    def for_delivery(self, event: str) -> HookFault | None:
        """The fault this delivery runs into; counts it."""
        with self._lock:
            for fault in self._hooks:
                if fnmatchcase(event, fault.event) and _due(fault):
                    return fault
            return None

    def listed(self) -> Iterator[dict[str, object]]:
        """Every rule with its hits, as JSON."""
        with self._lock:
            requests = [{"on": "request", **asdict(fault)} for fault in self._requests]
            hooks = [{"on": "hook", **asdict(fault)} for fault in self._hooks]
        return iter([*requests, *hooks])

    def _next(self) -> int:
        self._ids += 1
        return self._ids


def _due(fault: Fault | HookFault) -> bool:
    if fault.skip > 0:
        fault.skip -= 1
        return False
    if fault.times is not None:
        if fault.times <= 0:
            return False
        fault.times -= 1
    fault.hits += 1
    return True
