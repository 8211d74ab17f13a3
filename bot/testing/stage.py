"""The whole product in one process on loopback: sandbox tracker, bot, its web server, a hook, a flow's key, people."""

import time
from atexit import register
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from shutil import copy, rmtree
from tempfile import mkdtemp
from types import TracebackType
from typing import Any, Literal

from pydantic import SecretStr

from bot.adapters.engine import create_engine
from bot.adapters.migrate import upgrade
from bot.bootstrap import Bot, build
from bot.client import Client
from bot.flows.keys import create_key
from bot.flows.tick import drain
from bot.ports import Clock
from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer
from bot.sandbox.world import World
from bot.settings import Settings
from bot.testing.people import ScriptedPerson
from bot.web.server import ServerThread

SIGNING_TOKEN = "whsec_c2FuZGJveC1zaWduaW5nLWtleS0zMi1ieXRlcy1sb25n"  # noqa: S105 - likewise
HOOK_SECRET = "sandbox-hook-secret"  # noqa: S105 - of a tracker that lives for one test
HookKind = Literal["secret", "signature", "both"]
KEYS = {"token": "webhook_secret", "signing_token": "signing_token"}
PROJECT = "acme/platform/api"
ITEM_IID = 12


@cache
def _migrated() -> Path:
    """A new database with its tables, made once per process: making them takes longer than most tests."""
    folder = mkdtemp(prefix="hitl-stage-")
    register(rmtree, folder, ignore_errors=True)
    path = Path(folder) / "hitl.db"
    engine = create_engine(f"sqlite:///{path}")
    upgrade(engine)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path


class Stage:
    """Enter it to start everything, leave it to stop everything.

    With `working=False` no worker runs: `settle` then does the work, step by step and in this thread.
    `clock` is shared by the tracker and the bot; `project` holds more keys of the project's configuration.
    """

    def __init__(
        self,
        folder: Path,
        *,
        world: World | None = None,
        clock: Clock | None = None,
        working: bool = False,
        tracker_port: int = 0,
        bot_port: int = 0,
        poll_seconds: float = 60.0,
        policy: dict[str, int] | None = None,
        hook: HookKind = "secret",
        project: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.world = world or (demo_world() if clock is None else demo_world(clock=clock.now))
        self.tracker = SandboxServer(self.world, port=tracker_port)
        self._clock = clock
        self._working = working
        self._bot_port = bot_port
        self._poll_seconds = poll_seconds
        self._policy = policy or {}
        self._project = project or {}
        self._secrets = {"secret": {"token": HOOK_SECRET}, "signature": {"signing_token": SIGNING_TOKEN}}.get(
            hook, {"token": HOOK_SECRET, "signing_token": SIGNING_TOKEN}
        )
        self._open = ExitStack()

    def __enter__(self) -> "Stage":
        with ExitStack() as opening:
            opening.enter_context(self.tracker)
            self.settings = self._settings()
            copy(_migrated(), self.folder / "hitl.db")
            self.bot: Bot = build(self.settings, clock=self._clock)
            opening.callback(self.bot.close)
            self.web = opening.enter_context(ServerThread(self.bot.app(), port=self._bot_port))
            project = self.world.projects[self.project_id]
            self.hook = self.world.add_hook(
                project,
                f"{self.web.url}/webhooks/gitlab",
                token=self._secrets.get("token"),
                signing_token=self._secrets.get("signing_token"),
            )
            self.key, self.key_secret = create_key(self.bot.parts, name="demo", projects=[PROJECT])
            self.client = Client(self.web.url, self.key_secret)
            if self._working:
                self.bot.start()
            self._open = opening.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # Both servers look up from their work every tenth of a second: let them do that at the same time.
        self.web.begin_stop()
        self.tracker.begin_stop()
        self._open.close()

    @property
    def project_id(self) -> int:
        return next(project.id for project in self.world.projects.values() if project.path == PROJECT)

    @property
    def item(self) -> str:
        """The item the demo world has, as people name it."""
        return f"{PROJECT}#{ITEM_IID}"

    @property
    def item_url(self) -> str:
        return f"{self.tracker.url}/{PROJECT}/-/issues/{ITEM_IID}"

    def person(self, username: str) -> ScriptedPerson:
        """Somebody of the demo world: dana, gil, petra, omar, stranger."""
        user = next(user for user in self.world.users.values() if user.username == username)
        return ScriptedPerson(self.tracker.url, self.world.add_token(user), self.project_id, ITEM_IID)

    def settle(self, seconds: float = 10.0) -> None:
        """Wait until every hook is delivered and everything due is done. Raises `TimeoutError`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.tracker.hooks.flush(seconds)
            if self._working:
                time.sleep(0.05)
            elif drain(self.bot.parts) > 0:
                continue
            self.tracker.hooks.flush(seconds)
            if self._idle():
                return
        raise TimeoutError(f"still busy after {seconds} s")

    def _idle(self) -> bool:
        now = self.bot.parts.clock.now()
        with self.bot.parts.store.snapshot() as unit:
            return not unit.inbox.due(now) and not unit.outbox.due(now)

    def _settings(self) -> Settings:
        bot_user = next(user for user in self.world.users.values() if user.bot)
        return Settings.model_validate(
            {
                "gitlab": {"url": self.tracker.url},
                "policy": self._policy,
                "worker": {"poll_seconds": self._poll_seconds},
                "database": {"url": "sqlite:///hitl.db"},
                "projects": [
                    {
                        "path": PROJECT,
                        "token": SecretStr(self.world.add_token(bot_user)),
                        **{KEYS[name]: SecretStr(value) for name, value in self._secrets.items()},
                        **self._project,
                    }
                ],
                "base": self.folder,
            }
        )
