"""Opens the database, and the two ways to use it: `writing` and `reading`. SQLAlchemy's errors become ours here, once.

Not here: tables, migrations, or what is stored.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import URL, Connection, Engine, bindparam, event, make_url, text
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from bot.core.errors import StoreUnavailable

PATIENCE = timedelta(seconds=10)  # how long a writer waits for its turn
_OLDEST_SQLITE = (3, 35, 0)  # the first with RETURNING
_LONGEST_REASON = 300
_MODE = "hitl_mode"
_PATIENCE = "hitl_patience_ms"
_FAULTS_OF_OURS = (IntegrityError, DataError, ProgrammingError, NotSupportedError)  # a wrong statement, not a wrong database
_UNDEFINED_TABLE = ("42P01", "42703")  # undefined_table, undefined_column

# Writers take turns on PostgreSQL too, so that rows become visible in the order of their numbers (the lanes of the outbox
# rest on that) and a check stays true until the commit. Transactions hold no network call, so turns are short; a process
# that stands still with the turn in hand loses it after a minute. The number only has to differ from other programs'.
_TAKE_TURN = text(
    "SELECT set_config('lock_timeout', :patience, true),"
    " set_config('idle_in_transaction_session_timeout', '60000', true),"
    " pg_advisory_xact_lock(7238105594208306411)"
).bindparams(bindparam("patience", type_=sqlalchemy.Text))


def create_engine(url: str, *, base: Path | None = None, patience: timedelta = PATIENCE) -> Engine:
    """An engine whose database was reached and may be written to. A relative SQLite path starts at `base`.

    Raises `StoreUnavailable` with one line that names the URL without its password, and what to do.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        # What cannot be parsed may be a secret in the wrong place: none of it is repeated, but a scheme.
        scheme, found, _ = url.partition("://")
        shown = f"{scheme}://…" if found and scheme.replace("+", "").isalnum() else "what is configured"
        fix = "write sqlite:///hitl.db or postgresql+psycopg://…"
        raise StoreUnavailable(f"database.url: {shown} is no database URL: {fix}") from error
    milliseconds = int(patience.total_seconds() * 1000)
    match parsed.get_backend_name():
        case "sqlite":
            engine = _sqlite(parsed, base, milliseconds)
        case "postgresql":
            engine = _postgresql(parsed, milliseconds)
        case other:
            raise StoreUnavailable(f"{shown_url(parsed)}: {other} is not supported: use sqlite:///… or postgresql+psycopg://…")
    try:
        with writing(engine):
            pass
    except SQLAlchemyError as error:
        engine.dispose()
        raise _unavailable(parsed, error) from error
    except StoreUnavailable:
        engine.dispose()
        raise
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that may write; others that want to write wait. Raises `StoreUnavailable`."""
    with translated(engine.url), engine.connect().execution_options(**{_MODE: "write"}) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(_TAKE_TURN, {"patience": str(connection.get_execution_options()[_PATIENCE])})
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that sees the database as it was at its first statement, and waits for nobody."""
    options: dict[str, Any] = {_MODE: "read"}
    if engine.dialect.name == "postgresql":
        options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with translated(engine.url), engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """A database that cannot be used becomes `StoreUnavailable`, with the cause. A wrong statement stays what it is."""
    try:
        yield
    except (DBAPIError, NoFreeConnection) as error:
        if isinstance(error, _FAULTS_OF_OURS) and not _not_migrated(error):
            raise
        raise _unavailable(url, error) from error


def patience_of(engine: Engine) -> timedelta:
    """How long writers wait for their turn on this engine."""
    return timedelta(milliseconds=engine.get_execution_options()[_PATIENCE])


def shown_url(url: URL) -> str:
    """The URL for people: no password, and no options, which may hold one."""
    return url.set(query={}).render_as_string(hide_password=True)


def _sqlite(url: URL, base: Path | None, milliseconds: int) -> Engine:
    path = url.database or ":memory:"
    if url.host or path.startswith(("file:", ":memory:")):
        raise StoreUnavailable(f"{shown_url(url)} names no file: write sqlite:///hitl.db, or sqlite:////data/hitl.db")
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreUnavailable(f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed, or PostgreSQL")
    engine = sqlalchemy.create_engine(
        url.set(database=str((base or Path()) / path)),
        hide_parameters=True,
        pool_size=10,
        max_overflow=90,
        pool_timeout=milliseconds / 1000,
        # None: the driver begins and commits nothing by itself; `_begin` does.
        connect_args={"check_same_thread": False, "isolation_level": None},
        execution_options={_PATIENCE: milliseconds},
    )

    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            message = "its file system cannot keep a write-ahead log: use a local disk, or PostgreSQL"
            raise StoreUnavailable(f"the database {shown_url(url)} cannot be used ({mode} journal): {message}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get(_MODE)
    connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if mode == 'read' else 'OFF'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if mode == "write" else "BEGIN")


def _postgresql(url: URL, milliseconds: int) -> Engine:
    if url.drivername not in ("postgresql", "postgresql+psycopg"):
        raise StoreUnavailable(f"{shown_url(url)}: another driver than psycopg is not supported: write postgresql+psycopg://…")
    try:
        return sqlalchemy.create_engine(
            url.set(drivername="postgresql+psycopg"),
            hide_parameters=True,
            isolation_level="READ COMMITTED",
            pool_size=10,
            max_overflow=20,
            pool_timeout=milliseconds / 1000,
            pool_pre_ping=True,  # a restarted server costs no request
            connect_args={"connect_timeout": 10} | dict(url.query),
            execution_options={_PATIENCE: milliseconds},
        )
    except ImportError as error:
        message = "PostgreSQL needs an extra: pip install 'gitlab-hitl-bot[postgres]'"
        raise StoreUnavailable(f"the database {shown_url(url)} cannot be used: {message}") from error


def _not_migrated(error: SQLAlchemyError) -> bool:
    cause = error.orig if isinstance(error, DBAPIError) else None
    return getattr(cause, "sqlstate", None) in _UNDEFINED_TABLE or str(cause).startswith(("no such table", "no such column"))


def _unavailable(url: URL, error: SQLAlchemyError) -> StoreUnavailable:
    cause = error.orig if isinstance(error, DBAPIError) else error
    reason = " ".join(str(cause).split())[:_LONGEST_REASON]
    if _not_migrated(error):
        advice = "its tables are not those of this version: run `hitl db upgrade`"
    elif "locked" in reason or "lock timeout" in reason or isinstance(error, NoFreeConnection):
        advice = "it is busy, or another process holds it: try again, and stop that process if this goes on"
    elif url.get_backend_name() == "sqlite":
        advice = "check that its folder exists, that this user may write there, and that the disk has room"
    else:
        advice = "check that the server runs, and host, port, user, password and name in [database] url"
    return StoreUnavailable(f"the database {shown_url(url)} cannot be used ({reason}): {advice}")
