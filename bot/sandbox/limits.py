"""Per-user rate limits of the API's application limiter (contract section 4); off by default."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from bot.sandbox.records import User
from bot.sandbox.refusals import Refusal
from bot.sandbox.world import World

Limited = Literal["notes_create", "discussions_resolve"]
_WINDOW = timedelta(minutes=1)


class TooMany(Refusal):
    """Over an application limit: 429 without any headers about when to come back."""

    status = 429

    def __init__(self) -> None:
        text = "This endpoint has been requested too many times. Try again later."
        super().__init__({"message": {"error": text}})


class Limits:
    """Counts calls per user and minute; `enabled` switches it on."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.enabled = False
        self.per_minute: dict[Limited, int] = {"notes_create": 300, "discussions_resolve": 120}
        self._calls: dict[tuple[Limited, int], list[float]] = {}

    def turn_on(self, notes_create: int = 300, discussions_resolve: int = 120) -> None:
        """Enforce limits from now on."""
        self.per_minute = {
            "notes_create": notes_create,
            "discussions_resolve": discussions_resolve,
        }
        self.enabled = True

    def turn_off(self) -> None:
        """Enforce nothing any more."""
        self.enabled = False

    def count(self, what: Limited, user: User) -> None:
        """Count a call; raises `TooMany` when the minute is used up."""
        if not self.enabled:
            return
        now = self._world.now().timestamp()
        begin = now - _WINDOW.total_seconds()
        recent = [moment for moment in self._calls.get((what, user.id), []) if moment > begin]
        self._calls[what, user.id] = recent
        if len(recent) >= self.per_minute[what]:
            raise TooMany
        recent.append(now)
