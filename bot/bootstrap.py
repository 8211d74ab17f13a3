"""Puts a bot together from settings: the only place that picks adapters. Closing the bot closes all it opened."""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from fastapi import FastAPI

from bot.adapters.announcements import Announcements
from bot.adapters.engine import create_engine
from bot.adapters.gitlab.connection import Connection
from bot.adapters.gitlab.people import TokenPeople
from bot.adapters.gitlab.project import ProjectGateway
from bot.adapters.logs import note
from bot.adapters.migrate import upgrade
from bot.adapters.store import SqlStore
from bot.adapters.system import SecretIds, SystemClock, decode_key, load_or_make_key
from bot.adapters.targets.callback import CallbackTarget
from bot.adapters.targets.command import CommandTarget
from bot.adapters.templates import Templates
from bot.core.errors import ConfigError
from bot.flows.parts import Parts, Project, Projects
from bot.flows.receive import poll
from bot.flows.tick import drain
from bot.ports import Clock, Ids, ResumeTarget
from bot.settings import ProjectSection, Settings
from bot.web.app import create_app
from bot.web.health import Health
from bot.web.metrics import Metrics
from bot.wire.gitlab import HookSecret
from bot.worker import Worker


@dataclass(frozen=True)
class Bot:
    """A whole bot. `notices` are lines the operator should see once, such as a key made just now."""

    settings: Settings
    parts: Parts
    worker: Worker
    announcements: Announcements
    hook_secrets: tuple[HookSecret, ...]
    notices: tuple[str, ...]
    store: SqlStore
    connections: tuple[Connection, ...]
    health: Health
    metrics: Metrics

    def app(self) -> FastAPI:
        """The HTTP side of this bot."""
        return create_app(
            self.parts, self.hook_secrets, self.announcements.subscribe, standing=self.health, numbers=self.metrics
        )

    def start(self) -> None:
        """Begin working off inbox and outbox in the background."""
        seconds = self.settings.worker.poll_seconds
        self.worker.start(lambda: drain(self.parts, most=1), lambda: poll(self.parts, timedelta(seconds=seconds)), seconds)

    def close(self) -> None:
        self.worker.stop()
        for connection in self.connections:
            connection.close()
        self.store.close()


def build(settings: Settings, *, clock: Clock | None = None, ids: Ids | None = None) -> Bot:
    """A bot that is ready but not yet working (`start` begins).

    Raises `ConfigError` and `StoreUnavailable`; does not talk to GitLab.
    """
    clock = clock or SystemClock()
    keys, notices = _payload_keys(settings)
    engine = create_engine(settings.database.url.get_secret_value(), base=settings.base)
    upgrade(engine)
    store = SqlStore(engine)
    announcements = Announcements()
    worker = Worker()
    health = Health(store, clock, tuple(section.path for section in settings.projects), worker.pulse)
    metrics = Metrics(store, clock, worker.pulse)

    def told(event: str, fields: dict[str, object]) -> None:
        for listener in (note, metrics.note, health.note):
            listener(event, fields)

    connections = tuple(_connection(settings, section, clock) for section in settings.projects)
    parts = Parts(
        store=store,
        projects=Projects(
            [
                _project(settings, section, connection, clock)
                for section, connection in zip(settings.projects, connections, strict=True)
            ]
        ),
        people=TokenPeople(
            settings.gitlab.url,
            timeout=settings.gitlab.timeout_seconds,
            ca_file=_beside(settings, settings.gitlab.ca_file),
            proxy=settings.gitlab.proxy,
        ),
        renderer=Templates(_beside(settings, settings.templates.directory)),
        clock=clock,
        ids=ids or SecretIds(),
        instance=settings.gitlab.url,
        keys=keys,
        lease=timedelta(seconds=settings.worker.lease_seconds),
        wake=worker.wake,
        announce=announcements.announce,
        note=told,
    )
    return Bot(settings, parts, worker, announcements, _hook_secrets(settings), notices, store, connections, health, metrics)


def _connection(settings: Settings, section: ProjectSection, clock: Clock) -> Connection:
    return Connection(
        settings.gitlab.url,
        section.token,
        timeout=settings.gitlab.timeout_seconds,
        ca_file=_beside(settings, settings.gitlab.ca_file),
        proxy=settings.gitlab.proxy,
        clock=clock,
    )


def _project(settings: Settings, section: ProjectSection, connection: Connection, clock: Clock) -> Project:
    return Project(
        path=section.path,
        instance=settings.gitlab.url,
        gateway=ProjectGateway(connection, section.path, clock=clock),
        policy=settings.policy_of(section),
        former_bot_ids=frozenset(settings.gitlab.former_bot_ids),
        targets=_targets(settings, section, clock),
    )


def _targets(settings: Settings, section: ProjectSection, clock: Clock) -> dict[str, ResumeTarget]:
    """The ways to resume that this project allows, besides `pull`."""
    targets: dict[str, ResumeTarget] = {}
    if section.callback_secret is not None:
        targets["callback"] = CallbackTarget(
            section.callback_urls, section.callback_secret, allow_private=section.allow_private_callbacks, clock=clock
        )
    if section.commands:
        targets["command"] = CommandTarget(section.commands, folder=settings.base)
    return targets


def _beside(settings: Settings, path: Path | None) -> Path | None:
    """Relative paths are relative to the configuration file."""
    return None if path is None else settings.base / path


def _hook_secrets(settings: Settings) -> tuple[HookSecret, ...]:
    own = [
        HookSecret(frozenset({section.path}), section.webhook_secret, section.signing_token)
        for section in settings.projects
        if section.has_hook_secret
    ]
    groups = [
        HookSecret(
            frozenset(section.path for section in settings.projects if hook.covers(section)),
            hook.webhook_secret,
            hook.signing_token,
        )
        for hook in settings.group_hooks
    ]
    return (*own, *groups)


def _payload_keys(settings: Settings) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    keys: list[bytes] = []
    notices: list[str] = []
    for index, source in enumerate(settings.payload.key):
        if "env" in source:
            text = os.environ.get(source["env"], "")
            if not text:
                raise ConfigError(f"payload.key.{index}: environment variable {source['env']} is not set (or empty)")
            keys.append(decode_key(text, f"environment variable {source['env']}"))
            continue
        path = settings.base / Path(source["file"])
        key, made = load_or_make_key(path)
        keys.append(key)
        if made:
            notices.append(f"made {path}: back it up, without it the bot cannot prove that old questions are its own")
    return tuple(keys), tuple(notices)
