"""Databases for the contract tests: a fresh, migrated one per test, on SQLite and on a private PostgreSQL server.

The server is started for the session on a free loopback port. Where it cannot start, the tests that want it fail.
"""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.adapters.engine import create_engine
from bot.adapters.migrate import upgrade
from bot.adapters.store import SqlStore

BACKENDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
START_SECONDS = 30


class PostgresServer:
    """A server of its own, gone with its files at the end of the session."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="hitl-pg-"))
        self._numbers = itertools.count(1)
        # The server refuses to run as root, and then its files must belong to whom it runs as.
        self._as = _ordinary_user() if os.geteuid() == 0 else {}
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        self._port = _free_port()
        data = str(self._folder / "data")
        made = self._run([_binary("initdb"), "-D", data, "-U", "hitl", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"])
        if made.wait(START_SECONDS) != 0:
            raise RuntimeError(f"initdb failed: {self._log()}")
        places = ["-k", str(self._folder), "-c", "listen_addresses=127.0.0.1", "-p", str(self._port)]
        haste = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=100"]
        self._server = self._run([_binary("postgres"), "-D", data, *places, *haste])
        self._wait()
        self.template = self.new_database()
        engine = create_engine(self.url(self.template))
        upgrade(engine)
        engine.dispose()

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://hitl:not-needed@127.0.0.1:{self._port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        import psycopg  # an extra: only these tests need it

        name = f"t{next(self._numbers)}"
        with psycopg.connect(self._connect_to("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._server.pid, signal.SIGINT)  # fast shutdown: ends sessions, then itself
        try:
            self._server.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self._folder)

    def _connect_to(self, database: str) -> str:
        return f"host=127.0.0.1 port={self._port} user=hitl dbname={database} connect_timeout=5"

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder, **self._as)

    def _wait(self) -> None:
        import psycopg

        end = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self._connect_to("postgres")).close()
                return
            except psycopg.OperationalError as error:
                if self._server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the PostgreSQL server did not start: {self._log()}") from error
                time.sleep(0.05)

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-2000:]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "migrated.db"
    engine = create_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(params=BACKENDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    server = request.getfixturevalue("postgres_server")
    return server.url(server.new_database())


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with all tables and no rows."""
    if request.param == "sqlite":
        path = tmp_path / "hitl.db"
        shutil.copy(request.getfixturevalue("migrated_sqlite"), path)
        return f"sqlite:///{path}"
    server = request.getfixturevalue("postgres_server")
    return server.url(server.new_database(server.template))


@pytest.fixture
def open_engine() -> Iterator[Callable[..., Engine]]:
    """`create_engine`, with everything closed at the end of the test."""
    opened: list[Engine] = []

    def opening(url: str, **options: object) -> Engine:
        opened.append(create_engine(url, **options))
        return opened[-1]

    yield opening
    for engine in opened:
        engine.dispose()


@pytest.fixture
def store(url: str, open_engine: Callable[..., Engine]) -> SqlStore:
    return SqlStore(open_engine(url))


@pytest.fixture
def other(url: str, open_engine: Callable[..., Engine]) -> SqlStore:
    """The same database, seen by another process: it shares nothing with `store` but the file or the server."""
    return SqlStore(open_engine(url))


def _ordinary_user() -> dict[str, int]:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid}
    raise RuntimeError("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")


def _binary(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        if not installed:
            raise RuntimeError(f"{name} is neither in PATH nor under /usr/lib/postgresql: install the PostgreSQL server")
        found = str(installed[-1])
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
