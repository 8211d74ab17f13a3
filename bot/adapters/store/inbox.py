"""Arrivals in the database (`bot.ports.Inbox`). Not here: what makes two deliveries the same (`wire`)."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from bot.adapters.store.once import inserted
from bot.adapters.store.queue import Queue
from bot.adapters.tables import RowState, inbox
from bot.core.events import Arrival, LookAt
from bot.ports import Claimed


class SqlInbox(Queue[LookAt]):
    """Each arrival once, by delivery key and by fingerprint. Rows stay when done: they are what duplicates run into."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, inbox)

    def put(self, arrival: Arrival) -> bool:
        values = {
            "delivery_key": arrival.delivery_key,
            "fingerprint": arrival.fingerprint,
            "received_at": arrival.received_at,
            "body": arrival.look.model_dump_json(),
            "state": RowState.PENDING.value,
            "due_at": arrival.received_at,
            "attempts": 0,
        }
        return inserted(self._connection, inbox, values)

    def claim(self, now: datetime, lease: timedelta) -> Claimed[LookAt] | None:
        return self._claim(now, lease)

    def _read(self, body: str) -> LookAt:
        return LookAt.model_validate_json(body)
