"""Pytest fixtures: put `pytest_plugins = ["bot.testing.plugin"]` into a conftest. The only module that needs pytest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.testing.clock import MovableClock
from bot.testing.stage import Stage


@pytest.fixture
def clock() -> MovableClock:
    """A clock that the tracker and the bot of `stage` share."""
    return MovableClock()


@pytest.fixture
def stage(tmp_path: Path, clock: MovableClock) -> Iterator[Stage]:
    """The sandbox tracker and a bot, with no worker: call `stage.settle()` to let things happen."""
    with Stage(tmp_path, clock=clock) as stage:
        yield stage
