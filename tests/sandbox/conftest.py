"""The demo world served over real HTTP, a listener for its hooks, and clients for its people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import gitlab
import pytest
from gitlab.v4.objects import ProjectIssue

from bot.sandbox.records import Issue, Project, User
from bot.sandbox.seed import demo_world
from bot.sandbox.server import SandboxServer
from bot.sandbox.tracker import Tracker
from bot.sandbox.world import World


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **by: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**by)


@dataclass
class Received:
    """One delivery as the listener got it."""

    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def event(self) -> str:
        return self.headers["x-gitlab-event"]


class Listener:
    """Receives hooks; answers `status` to each."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.status = 202
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                listener.received.append(Received(headers, raw))
                self.send_response(listener.status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def events(self) -> list[str]:
        """The event names received so far."""
        return [delivery.event for delivery in self.received]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def stopping() -> Iterator[list[Thread]]:
    """Servers on their way down; they need not be waited for between tests."""
    threads: list[Thread] = []
    yield threads
    for thread in threads:
        thread.join()


@pytest.fixture
def world(clock: Clock) -> World:
    return demo_world(clock)


@pytest.fixture
def tracker(world: World) -> Iterator[Tracker]:
    """The world without a server, for what people do directly."""
    made = Tracker.over(world)
    yield made
    made.hooks.stop()


@pytest.fixture
def server(world: World, stopping: list[Thread]) -> Iterator[SandboxServer]:
    running = SandboxServer(world)
    running.start()
    yield running
    thread = Thread(target=running.stop)
    thread.start()
    stopping.append(thread)


@pytest.fixture
def project(world: World) -> Project:
    return world.projects[77]


@pytest.fixture
def issue(world: World) -> Issue:
    found = world.issue_at(77, 12)
    assert found is not None
    return found


@pytest.fixture
def person(world: World) -> Callable[[str], User]:
    def find(username: str) -> User:
        user = world.user_named(username)
        assert user is not None
        return user

    return find


@pytest.fixture
def client(server: SandboxServer) -> Iterator[Callable[[str], gitlab.Gitlab]]:
    """A python-gitlab client per person, with that person's token."""
    made: dict[str, gitlab.Gitlab] = {}

    def connect(username: str) -> gitlab.Gitlab:
        if username not in made:
            user = server.world.user_named(username)
            assert user is not None
            token = next(t.value for t in server.world.tokens if t.user_id == user.id)
            made[username] = gitlab.Gitlab(server.url, private_token=token, timeout=5)
        return made[username]

    yield connect
    for each in made.values():
        each.session.close()


@pytest.fixture
def as_person(client: Callable[[str], gitlab.Gitlab]) -> Callable[[str], ProjectIssue]:
    """Issue 12 as a person's client sees it."""

    def look(username: str) -> ProjectIssue:
        return client(username).projects.get(77, lazy=True).issues.get(12)

    return look


@pytest.fixture
def listener() -> Iterator[Listener]:
    running = Listener()
    yield running
    running.close()
