"""Flow keys in the database (`bot.ports.Keys`): a hash of the secret, never the secret. Not here: hashing, or making one."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from bot.adapters.store.once import inserted
from bot.adapters.tables import flow_keys
from bot.core.errors import VersionConflict
from bot.ports import FlowKey


class SqlKeys:
    """A revoked key is still found, with the time it was revoked."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, key: FlowKey, secret_hash: str) -> None:
        """Raises `VersionConflict` when the id or the secret is taken."""
        values = {
            "id": key.id,
            "secret_hash": secret_hash,
            "name": key.name,
            "project_ids": list(key.project_ids),
            "owners": list(key.owners),
            "created_at": key.created_at,
            "revoked_at": key.revoked_at,
        }
        if not inserted(self._connection, flow_keys, values):
            raise VersionConflict(f"there is a key {key.id} already, or one with the same secret")

    def find(self, secret_hash: str) -> FlowKey | None:
        row = self._connection.execute(select(flow_keys).where(flow_keys.c.secret_hash == secret_hash)).one_or_none()
        return None if row is None else _key(row)

    def listed(self) -> list[FlowKey]:
        """Oldest first."""
        rows = self._connection.execute(select(flow_keys).order_by(flow_keys.c.created_at, flow_keys.c.id))
        return [_key(row) for row in rows]

    def revoke(self, key_id: str, at: datetime) -> bool:
        """False when there is no such key, or it was revoked before."""
        valid = (flow_keys.c.id == key_id) & flow_keys.c.revoked_at.is_(None)
        return self._connection.execute(update(flow_keys).where(valid).values(revoked_at=at)).rowcount == 1


def _key(row: Row[Any]) -> FlowKey:
    return FlowKey(row.id, row.name, tuple(row.project_ids), tuple(row.owners), row.created_at, row.revoked_at)
