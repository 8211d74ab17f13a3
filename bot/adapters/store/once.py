"""Insert a row unless a unique key is taken. Not here: what a taken key means; each facet knows."""

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def inserted(connection: Connection, table: Table, values: dict[str, Any]) -> bool:
    """True when the row is new. A taken key leaves the transaction usable, which an `IntegrityError` on PostgreSQL does not."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key.columns)
    return connection.execute(statement).one_or_none() is not None
