"""Opening, migrating and losing a database: what the operator is told, and that nothing is lost on the way."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, event, inspect, select, text
from sqlalchemy.exc import StatementError

import bot
from bot.adapters.engine import create_engine, reading
from bot.adapters.migrate import current, downgrade, head, upgrade
from bot.adapters.store import SqlStore
from bot.adapters.tables import flow_keys, metadata
from bot.core.errors import StoreUnavailable
from bot.ports import FlowKey

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
UPGRADE = """
import sys
from bot.adapters.engine import create_engine
from bot.adapters.migrate import upgrade
upgrade(create_engine(sys.argv[1]))
"""
HANG = """
import sys, time
from datetime import datetime, UTC
from bot.adapters.engine import create_engine
from bot.adapters.store import SqlStore
from bot.ports import FlowKey
store = SqlStore(create_engine(sys.argv[1]))
with store.unit() as unit:
    unit.keys.add(FlowKey("lost", "lost", (), (), datetime.now(UTC)), "lost")
    print("inside", flush=True)
    time.sleep(60)
"""

END_ALL_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def python(program: str, url: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(bot.__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", program, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


class TestMigrations:
    def test_makes_the_tables_of_the_metadata(self, empty_url: str, open_engine: Callable[..., Engine]) -> None:
        """After `upgrade` the database has exactly the tables, columns, keys and indexes of `adapters.tables`."""
        engine = open_engine(empty_url)
        upgrade(engine)
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
            assert compare_metadata(context, metadata) == []
            found = inspect(connection)
            for table in metadata.sorted_tables:
                unique = {tuple(each["column_names"]) for each in found.get_unique_constraints(table.name)}
                for name in ("delivery_key", "fingerprint", "effect_id", "secret_hash"):
                    assert (name in table.c) == ((name,) in unique)

    def test_up_and_down(self, empty_url: str, open_engine: Callable[..., Engine]) -> None:
        """A database goes up, up again without harm, down to nothing, and up once more."""
        engine = open_engine(empty_url)
        assert current(engine) is None
        for _ in range(2):
            upgrade(engine)
            assert current(engine) == head()
        downgrade(engine, "base")
        assert current(engine) is None
        assert inspect(engine).get_table_names() == ["alembic_version"]
        upgrade(engine)
        assert current(engine) == head()

    def test_keeps_rows(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """Upgrading a database that is up to date changes no row."""
        engine = open_engine(url)
        with SqlStore(engine).unit() as unit:
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")
        upgrade(engine)
        with SqlStore(engine).snapshot() as unit:
            assert unit.keys.find("hash") is not None

    def test_two_processes_at_once(self, empty_url: str, open_engine: Callable[..., Engine]) -> None:
        """Processes that start together on an empty database all come up."""
        started = [python(UPGRADE, empty_url) for _ in range(3)]
        ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
        assert [code for _, code in ended] == [0, 0, 0], ended
        assert current(open_engine(empty_url)) == head()

    def test_a_newer_database(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """A database of a newer version is refused with what to do, and left alone."""
        engine = open_engine(url)
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = 'from_later'"))
        with pytest.raises(StoreUnavailable, match="install the version that made them"):
            upgrade(engine)
        assert current(engine) == "from_later"

    def test_a_revision_that_is_none(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """Going back to a version that never was changes nothing and says so."""
        engine = open_engine(url)
        with pytest.raises(StoreUnavailable, match="cannot go back to 'nowhere'"):
            downgrade(engine, "nowhere")
        assert current(engine) == head()

    def test_logging_stays(self, tmp_path: Path, open_engine: Callable[..., Engine]) -> None:
        """Migrating changes no logger, level or handler."""
        mine = logging.getLogger("somebody.elses")
        before = (list(logging.root.handlers), logging.root.level, mine.disabled, mine.level)
        upgrade(open_engine(f"sqlite:///{tmp_path / '100% new.db'}"))
        assert (list(logging.root.handlers), logging.root.level, mine.disabled, mine.level) == before


class TestOpening:
    @pytest.mark.parametrize(
        ("url", "shown", "advice"),
        [
            ("rubbish", "what is configured", "write sqlite:///hitl.db or postgresql"),
            ("rubbish:pa55@word@host", "what is configured", "write sqlite:///hitl.db or postgresql"),
            ("mysql://dana:pa55@host/hitl", "mysql://dana:***@host/hitl", "use sqlite"),
            ("postgresql+asyncpg://dana:pa55@host/hitl", "dana:***@host", "write postgresql+psycopg"),
            ("sqlite://", "names no file", "write sqlite:///"),
            ("sqlite:///:memory:", "names no file", "write sqlite:///"),
            ("sqlite://hitl.db", "names no file", "write sqlite:///"),
            ("sqlite:////no/such/folder/hitl.db", "sqlite:////no/such/folder/hitl.db", "check that its folder exists"),
            ("sqlite:////", "sqlite:////", "check that its folder exists"),
        ],
    )
    def test_what_cannot_be_opened(self, url: str, shown: str, advice: str) -> None:
        """A database that cannot be used is refused in one line with its URL, without its password, and what to do."""
        with pytest.raises(StoreUnavailable) as raised:
            create_engine(url)
        message = raised.value.message
        assert shown in message
        assert advice in message
        assert "pa55" not in message
        assert "\n" not in message

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("postgresql+psycopg://dana:pa55@127.0.0.1:1/hitl", "//dana:***@127.0.0.1:1/hitl"),
            ("postgresql://dana@127.0.0.1:1/hitl?password=pa55", "//dana@127.0.0.1:1/hitl"),
            ("postgresql://dana:pa55@127.0.0.1/hitl?no_such_option=1", "//dana:***@127.0.0.1/hitl"),
        ],
    )
    def test_no_server(self, url: str, shown: str) -> None:
        """A PostgreSQL server that cannot be reached is named without its password, in one line."""
        with pytest.raises(StoreUnavailable, match="check that the server runs") as raised:
            create_engine(url)
        message = raised.value.message
        assert shown in message
        assert "pa55" not in message
        assert "\n" not in message

    def test_missing_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """PostgreSQL without its driver names the extra to install."""
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(StoreUnavailable, match=r"gitlab-hitl-bot\[postgres\]"):
            create_engine("postgresql+psycopg://dana@host/hitl")

    def test_not_a_database(self, tmp_path: Path) -> None:
        """A file that is something else is refused and stays as it was."""
        path = tmp_path / "letter.txt"
        path.write_text("Dear reader, " * 100)
        with pytest.raises(StoreUnavailable, match="not a database"):
            create_engine(f"sqlite:///{path}")
        assert path.read_text() == "Dear reader, " * 100

    def test_relative_paths(self, tmp_path: Path, open_engine: Callable[..., Engine]) -> None:
        """A relative SQLite path starts at `base`, an absolute one where it says."""
        open_engine("sqlite:///near.db", base=tmp_path)
        open_engine(f"sqlite:///{tmp_path / 'far.db'}", base=tmp_path / "elsewhere")
        assert {path.name for path in tmp_path.glob("*.db")} == {"near.db", "far.db"}

    def test_sqlite_is_durable(self, tmp_path: Path, open_engine: Callable[..., Engine]) -> None:
        """SQLite runs with a write-ahead log, full synchronisation, foreign keys and ten seconds of patience."""
        with reading(open_engine(f"sqlite:///{tmp_path / 'hitl.db'}")) as connection:
            names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            assert [connection.scalar(text(f"PRAGMA {name}")) for name in names] == ["wal", 2, 1, 10_000]

    def test_without_tables(self, empty_url: str, open_engine: Callable[..., Engine]) -> None:
        """A database that was never migrated says which command helps."""
        with pytest.raises(StoreUnavailable, match="hitl db upgrade"), SqlStore(open_engine(empty_url)).snapshot() as unit:
            unit.keys.listed()


class TestTimes:
    def test_any_zone_in_utc_out(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """A time comes back as the same instant in UTC, and orders as instants do."""
        engine = open_engine(url)
        east, west = timezone(timedelta(hours=9)), timezone(-timedelta(hours=9))
        early, late = NOW.astimezone(east), (NOW + timedelta(minutes=1)).astimezone(west)
        with SqlStore(engine).unit() as unit:
            unit.keys.add(FlowKey("late", "late", (), (), late), "h1")
            unit.keys.add(FlowKey("early", "early", (), (), early), "h2")
            assert [key.id for key in unit.keys.listed()] == ["early", "late"]
        with reading(engine) as connection:
            times = connection.scalars(select(flow_keys.c.created_at).order_by(flow_keys.c.created_at)).all()
        assert [(time, time.utcoffset()) for time in times] == [(early, timedelta(0)), (late, timedelta(0))]

    def test_naive_times(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """A time without a zone is a mistake and is not stored."""
        with pytest.raises(StatementError, match="no time zone"), SqlStore(open_engine(url)).unit() as unit:
            unit.keys.revoke("a", NOW.replace(tzinfo=None))


class TestTrouble:
    @pytest.mark.slow
    def test_killed_writer(self, url: str, open_engine: Callable[..., Engine]) -> None:
        """A process killed in the middle of a unit leaves nothing behind and nobody waiting."""
        process = python(HANG, url)
        assert process.stdout is not None
        assert process.stdout.readline() == "inside\n"
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with SqlStore(open_engine(url)).unit() as unit:
            assert unit.keys.listed() == []
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")

    @pytest.mark.slow
    def test_server_ends_the_connections(self, postgres_server: Any, open_engine: Callable[..., Engine]) -> None:
        """A unit whose connection breaks is `StoreUnavailable` with its cause, and the next one works."""
        url = postgres_server.url(postgres_server.new_database(postgres_server.template))
        store, admin = SqlStore(open_engine(url)), open_engine(url)

        def lose_the_connection() -> None:
            with store.unit() as unit:
                with admin.connect() as connection:
                    connection.execute(text(END_ALL_OTHERS))
                unit.keys.listed()

        with pytest.raises(StoreUnavailable, match="terminat") as raised:
            lose_the_connection()
        assert raised.value.__cause__ is not None
        with store.unit() as unit:
            assert unit.keys.listed() == []

    def test_full_disk(self, tmp_path: Path, open_engine: Callable[..., Engine]) -> None:
        """A database that cannot grow is `StoreUnavailable`, and what was committed before is still there."""
        engine = open_engine(f"sqlite:///{tmp_path / 'hitl.db'}")
        upgrade(engine)
        store = SqlStore(engine)
        with store.unit() as unit:
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")
        # Stands for a full disk: SQLite answers the same way when it may not take another page.
        event.listen(engine, "checkout", lambda connection, *_: connection.execute("PRAGMA max_page_count = 1"))
        with pytest.raises(StoreUnavailable, match="full"), store.unit() as unit:
            unit.replays.begin("c", "k" * 200_000, "h", NOW)
        with store.snapshot() as unit:
            assert unit.keys.find("hash") is not None

    def test_the_disk_file_is_the_database(self, tmp_path: Path, open_engine: Callable[..., Engine]) -> None:
        """What was committed is in the file for any other program that opens it."""
        engine = open_engine(f"sqlite:///{tmp_path / 'hitl.db'}")
        upgrade(engine)
        with SqlStore(engine).unit() as unit:
            unit.keys.add(FlowKey("a", "ci", (1,), (), NOW), "hash")
        other = sqlite3.connect(tmp_path / "hitl.db")
        try:
            assert other.execute("SELECT id FROM flow_keys").fetchall() == [("a",)]
        finally:
            other.close()
