"""`hitl serve` as a real process against a tracker in this one, for tests that kill, stop and restart it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.bootstrap import build
from bot.client import Client
from bot.flows.keys import create_key
from bot.sandbox.server import SandboxServer
from bot.settings import load
from bot.testing import ScriptedPerson

SECRET = "s3cret-of-this-test"
CONFIG = """
[gitlab]
url = "{tracker}"
[worker]
poll_seconds = 3600
lease_seconds = 1
[[projects]]
path = "acme/platform/api"
token = {{ file = "token" }}
webhook_secret = {{ file = "secret" }}
"""


class Installation:
    """`hitl serve` as its own process, against a tracker in this one."""

    def __init__(self, folder: Path, tracker: SandboxServer) -> None:
        self.tracker = tracker
        self.config = folder / "config.toml"
        bot_user = next(user for user in tracker.world.users.values() if user.bot)
        (folder / "token").write_text(tracker.world.add_token(bot_user))
        (folder / "secret").write_text(SECRET)
        self.config.write_text(CONFIG.format(tracker=tracker.url))
        bot = build(load(self.config))
        _, self.key = create_key(bot.parts, name="flow", projects=["acme/platform/api"])
        bot.close()
        self._hook: Any = None

    @contextmanager
    def serving(self) -> Iterator[tuple[subprocess.Popen[str], Client]]:
        """A process that answers; the tracker's hook points at it. Killed at the end if it still runs."""
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "serve", "--config", str(self.config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "HITL_SERVER__PORT": "0"},
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().rsplit(" ", 1)[-1].strip()
            assert url.startswith("http://"), "hitl serve prints its URL when ready"
            self.tracker.world.hooks.clear()
            self.tracker.world.add_hook(
                next(iter(self.tracker.world.projects.values())), f"{url}/webhooks/gitlab", token=SECRET
            )
            yield process, Client(url, self.key)
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def inbox_left(self) -> int:
        """Hints that nobody has finished yet."""
        bot = build(load(self.config))
        try:
            with bot.parts.store.snapshot() as unit:
                counts = unit.inbox.counts(bot.parts.clock.now())
        finally:
            bot.close()
        return counts.due + counts.waiting

    def person(self, username: str) -> ScriptedPerson:
        world = self.tracker.world
        user = next(user for user in world.users.values() if user.username == username)
        return ScriptedPerson(self.tracker.url, world.add_token(user), 77, 12)


def eventually(met: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if met():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain until {what}")
