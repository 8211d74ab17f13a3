"""Effects to deliver, in the database (`bot.ports.Outbox`). Not here: how they are delivered (`flows.deliver`)."""

from datetime import datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, FromClause, exists, select, update

from bot.adapters.store.once import inserted
from bot.adapters.store.queue import Queue
from bot.adapters.tables import RowState, outbox
from bot.core.effects import Effect
from bot.ports import Claimed, Outgoing

_EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)
_PENDING = RowState.PENDING.value


class SqlOutbox(Queue[Effect]):
    """Each effect once. Within a lane only the oldest unfinished one can be claimed; parked and cancelled count as finished."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, outbox)

    def put(self, effect: Effect, now: datetime) -> bool:
        values = {
            "effect_id": effect.effect_id,
            "lane": effect.lane,
            "created_at": now,
            "body": _EFFECT.dump_json(effect).decode(),
            "state": _PENDING,
            "due_at": now,
            "attempts": 0,
        }
        return inserted(self._connection, outbox, values)

    def claim(self, now: datetime, lease: timedelta, *, lane: str | None = None) -> Claimed[Effect] | None:
        return self._claim(now, lease, lane=lane)

    def cancel(self, effect_id: str) -> bool:
        unfinished = (outbox.c.effect_id == effect_id) & (outbox.c.state == _PENDING)
        statement = update(outbox).where(unfinished).values(state=RowState.CANCELLED.value, lease_until=None)
        return self._connection.execute(statement).rowcount == 1

    def find(self, effect_id: str) -> Outgoing | None:
        columns = (outbox.c.state, outbox.c.attempts, outbox.c.due_at, outbox.c.error)
        row = self._connection.execute(select(*columns).where(outbox.c.effect_id == effect_id)).one_or_none()
        return None if row is None else Outgoing(*row)

    def revive(self, effect_id: str, now: datetime) -> bool:
        idle = outbox.c.lease_until.is_(None) | (outbox.c.lease_until <= now)
        stuck = (outbox.c.effect_id == effect_id) & outbox.c.state.in_([_PENDING, RowState.PARKED.value]) & idle
        # One attempt stays counted, so that the next one looks for what an earlier one may have done.
        fresh = {"state": _PENDING, "due_at": now, "attempts": 1, "lease_until": None, "error": None}
        return self._connection.execute(update(outbox).where(stuck).values(**fresh)).rowcount == 1

    def _read(self, body: str) -> Effect:
        return _EFFECT.validate_json(body)

    def _its_turn(self, candidate: FromClause, now: datetime) -> ColumnElement[bool]:
        other = outbox.alias("other")
        same_lane = (other.c.lane == candidate.c.lane) & (other.c.id != candidate.c.id) & (other.c.state == _PENDING)
        # An earlier one goes first; a later one in hand was claimed while this one was parked, and is finished first.
        return ~exists().where(same_lane & ((other.c.id < candidate.c.id) | (other.c.lease_until > now)))
