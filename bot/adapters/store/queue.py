"""Rows that are claimed, worked on and settled: what inbox and outbox have in common.

A claim is one statement: it finds the oldest row that is due and nobody's, and takes it until `lease` has passed. After
that anybody may take it again, so work must bear being done twice. Not here: what the work is.
"""

from abc import abstractmethod
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, FromClause, Table, func, select, true, update

from bot.adapters.tables import RowState
from bot.ports import Claimed, QueueCounts

T = TypeVar("T")

UNREADABLE_PAUSE = timedelta(minutes=5)  # a row of a newer version waits for that version to come back


class Queue(Generic[T]):
    """Oldest first, each row with one worker at a time."""

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection = connection
        self._table = table

    def due(self, now: datetime) -> int:
        """Rows that could be claimed now or are being worked on; a row that waits behind another one does not count."""
        statement = select(func.count()).where(self._table.c.state == RowState.PENDING.value, self._due_now(now))
        return self._connection.scalar(statement) or 0

    def counts(self, now: datetime) -> QueueCounts:
        """One pass over the rows that are not finished."""
        table = self._table
        pending = table.c.state == RowState.PENDING.value
        due = pending & self._due_now(now)
        statement = select(
            func.count().filter(due),
            func.count().filter(pending),
            func.count().filter(table.c.state == RowState.PARKED.value),
            func.min(table.c.due_at).filter(due),
        ).where(table.c.state.in_([RowState.PENDING.value, RowState.PARKED.value]))
        in_reach, unfinished, parked, oldest = self._connection.execute(statement).one()
        return QueueCounts(in_reach, unfinished - in_reach, parked, oldest)

    def done(self, row_id: int) -> None:
        self._settle(row_id, state=RowState.DONE.value, error=None)

    def again(self, row_id: int, due: datetime, error: str) -> None:
        self._settle(row_id, due_at=due, error=_storable(error))

    def park(self, row_id: int, error: str) -> None:
        self._settle(row_id, state=RowState.PARKED.value, error=_storable(error))

    @abstractmethod
    def _read(self, body: str) -> T:
        """Raises `ValidationError`."""

    def _claim(self, now: datetime, lease: timedelta, *, lane: str | None = None) -> Claimed[T] | None:
        while True:
            row = self._connection.execute(self._claiming(now, now + lease, lane)).one_or_none()
            if row is None:
                return None
            try:
                return Claimed(row.id, row.attempts, self._read(row.body))
            except ValidationError as error:
                # Neither lost nor in the way of all others; in the outbox its own lane waits, since order counts there.
                kinds = ", ".join(sorted({problem["type"] for problem in error.errors(include_url=False, include_input=False)}))
                self.again(row.id, now + UNREADABLE_PAUSE, f"this version of the bot cannot read the row ({kinds})")

    def _claiming(self, now: datetime, until: datetime, lane: str | None) -> Any:
        table = self._table
        candidate = table.alias("candidate")
        oldest = (
            select(candidate.c.id)
            .where(
                candidate.c.state == RowState.PENDING.value,
                candidate.c.due_at <= now,
                candidate.c.lease_until.is_(None) | (candidate.c.lease_until <= now),
                self._its_turn(candidate, now),
                true() if lane is None else candidate.c.lane == lane,
            )
            .order_by(candidate.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)  # left out on SQLite, where the transaction holds the only write lock
            .scalar_subquery()
        )
        taken = {"lease_until": until, "attempts": table.c.attempts + 1}
        return update(table).where(table.c.id == oldest).values(**taken).returning(table.c.id, table.c.attempts, table.c.body)

    def _due_now(self, now: datetime) -> ColumnElement[bool]:
        """Could be claimed now, or is being worked on."""
        table = self._table
        return (table.c.lease_until > now) | ((table.c.due_at <= now) & self._its_turn(table, now))

    def _its_turn(self, candidate: FromClause, now: datetime) -> ColumnElement[bool]:
        """Besides being due: may this row be claimed now?"""
        return true()

    def _settle(self, row_id: int, **values: Any) -> None:
        """Only what is pending: a row cancelled meanwhile must not come back."""
        mine = (self._table.c.id == row_id) & (self._table.c.state == RowState.PENDING.value)
        self._connection.execute(update(self._table).where(mine).values(lease_until=None, **values))


def _storable(text: str) -> str:
    """PostgreSQL takes no NUL, and no database an unpaired surrogate; both could come in with a remote message."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
