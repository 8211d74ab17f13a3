"""The tables. A value is one JSON text in `body`; beside it stand only the columns that queries and locks need.

Not here: how rows become values (`store`), or how a database gets from one version to the next (`migrations`).
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts up only an INTEGER primary key, and its INTEGER holds 64 bits anyway.
RowNumber = BigInteger().with_variant(Integer, "sqlite")


class UtcDateTime(TypeDecorator[datetime]):
    """Aware UTC in, aware UTC out. Naive times are refused: their zone would be a guess."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # SQLite keeps no zone; what it holds was converted to UTC on the way in.
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class RowState(StrEnum):
    """Where a row of inbox or outbox stands. A claimed row is `pending` with a lease."""

    PENDING = "pending"
    DONE = "done"
    PARKED = "parked"
    CANCELLED = "cancelled"


def _work() -> list[Column[Any]]:
    """What inbox and outbox have in common: work that is claimed for a while."""
    return [
        Column("body", Text, nullable=False),
        Column("state", Text, nullable=False),
        Column("due_at", UtcDateTime, nullable=False),
        Column("lease_until", UtcDateTime),
        Column("attempts", Integer, nullable=False),
        Column("error", Text),
    ]


runs = Table(
    "runs",
    metadata,
    Column("number", RowNumber, primary_key=True),  # keeps the order of runs made in the same instant
    Column("id", Text, nullable=False, unique=True),
    Column("project_id", BigInteger, nullable=False),
    Column("item_iid", BigInteger, nullable=False),
    Column("status", Text, nullable=False, index=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index(None, "project_id", "item_iid"),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("project_id", BigInteger, nullable=False),
    Column("item_iid", BigInteger, nullable=False),
    Column("discussion_id", Text),
    Column("note_id", BigInteger),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index(None, "run_id", "round", "position"),
    Index(None, "project_id", "discussion_id"),
)

resumes = Table(
    "resumes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("delivered_at", UtcDateTime),
    UniqueConstraint("run_id", "round"),
)

# Row numbers of inbox and outbox are never used twice (`sqlite_autoincrement`): a late `done` must not hit a newer row.
inbox = Table(
    "inbox",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("delivery_key", Text, unique=True),
    Column("fingerprint", Text, nullable=False, unique=True),
    Column("received_at", UtcDateTime, nullable=False),
    *_work(),
    Index(None, "state", "id"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("effect_id", Text, nullable=False, unique=True),
    Column("lane", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    *_work(),
    Index(None, "state", "id"),
    Index(None, "lane", "state", "id"),
    sqlite_autoincrement=True,
)

flow_keys = Table(
    "flow_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("project_ids", JSON, nullable=False),
    Column("owners", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("revoked_at", UtcDateTime),
)

replays = Table(
    "replays",
    metadata,
    Column("caller", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("status", Integer),
    Column("body", Text),
    Column("at", UtcDateTime, nullable=False),
)
