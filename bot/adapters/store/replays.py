"""Answers of POSTs by caller and `Idempotency-Key`, in the database (`bot.ports.Replays`). Not here: what is replayed."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, update

from bot.adapters.store.once import inserted
from bot.adapters.tables import replays
from bot.core.errors import VersionConflict
from bot.ports import Recorded

ABANDONED = timedelta(seconds=60)  # should the first one still be at work, both find the same ids: nothing is done twice


class SqlReplays:
    """A key is reserved by inserting its row."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, caller: str, key: str, request_hash: str, now: datetime) -> Recorded | None:
        """None: the caller may go on (the key is reserved). Else what is recorded for the key.

        An abandoned reservation is taken over by the same request only: another one must not pass for it.
        """
        if inserted(self._connection, replays, {"caller": caller, "key": key, "request_hash": request_hash, "at": now}):
            return None
        here = (replays.c.caller == caller) & (replays.c.key == key)
        abandoned = replays.c.status.is_(None) & (replays.c.at <= now - ABANDONED) & (replays.c.request_hash == request_hash)
        if self._connection.execute(update(replays).where(here & abandoned).values(at=now)).rowcount == 1:
            return None
        row = self._connection.execute(select(replays).where(here)).one_or_none()
        if row is None:
            raise VersionConflict("the Idempotency-Key was freed by another request at this moment")
        return Recorded(row.request_hash, row.status, row.body, row.at)

    def finish(self, caller: str, key: str, status: int, body: str) -> None:
        here = (replays.c.caller == caller) & (replays.c.key == key)
        self._connection.execute(update(replays).where(here).values(status=status, body=body))

    def forget(self, caller: str, key: str) -> None:
        self._connection.execute(delete(replays).where(replays.c.caller == caller, replays.c.key == key))
