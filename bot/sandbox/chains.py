"""Which hooks a chain of events has fired already, after the recursion rule of contract section 1.

It helps only a client that sends `X-Gitlab-Event-UUID` back with its API calls; few do.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta

# The `X-Gitlab-Event-UUID` that the API request in hand carried back, if any.
CARRIED: ContextVar[str | None] = ContextVar("carried", default=None)

LONGEST = 100
_REMEMBERED = timedelta(minutes=30)


@dataclass
class _Chain:
    began: datetime
    hook_ids: list[int] = field(default_factory=list)


class Chains:
    """The chains of the last half hour."""

    def __init__(self) -> None:
        self._chains: dict[str, _Chain] = {}

    def admits(self, chain: str, hook_id: int, now: datetime) -> bool:
        """Whether the chain may fire the hook; if so, it has from now on."""
        self._forget(now)
        fired = self._chains.setdefault(chain, _Chain(now)).hook_ids
        if hook_id in fired or len(fired) >= LONGEST:
            return False
        fired.append(hook_id)
        return True

    def _forget(self, now: datetime) -> None:
        # Chains are kept in the order they began, so the old ones come first.
        while self._chains:
            name = next(iter(self._chains))
            if self._chains[name].began + _REMEMBERED > now:
                return
            del self._chains[name]
