"""The parts of one sandbox put together over a world; constructing it starts nothing."""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox.awards import Awards
from bot.sandbox.discussions import Discussions
from bot.sandbox.faults import Faults
from bot.sandbox.hooks import Hooks
from bot.sandbox.issues import Issues
from bot.sandbox.limits import Limits
from bot.sandbox.world import World


@dataclass(frozen=True)
class Tracker:
    """What routes and pages work with."""

    world: World
    faults: Faults
    hooks: Hooks
    issues: Issues
    awards: Awards
    discussions: Discussions
    limits: Limits

    @classmethod
    def over(cls, world: World) -> Tracker:
        """A tracker for a world."""
        faults = Faults()
        hooks = Hooks(world, faults)
        return cls(
            world,
            faults,
            hooks,
            Issues(world, hooks),
            Awards(world, hooks),
            Discussions(world, hooks),
            Limits(world),
        )
