"""Runs in the database (`bot.ports.Runs`). Not here: which change of a run is allowed (`core.lifecycle`)."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from bot.adapters.store.once import inserted
from bot.adapters.tables import runs
from bot.core.errors import VersionConflict
from bot.core.lifecycle import TRANSITIONS
from bot.core.models import Run, RunStatus

LIVE = frozenset(source.value for source, _ in TRANSITIONS)  # something can still happen to these


class SqlRuns:
    """One JSON text a run; `version` guards it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, run: Run) -> None:
        """Raises `VersionConflict` when the id is taken."""
        if not inserted(self._connection, runs, {"id": run.id, "created_at": run.created_at, **_columns(run)}):
            raise VersionConflict(f"run {run.id} was stored by somebody else first")

    def get(self, run_id: str) -> Run | None:
        body = self._connection.scalar(select(runs.c.body).where(runs.c.id == run_id))
        return None if body is None else Run.model_validate_json(body)

    def save(self, run: Run) -> Run:
        stored = run.model_copy(update={"version": run.version + 1})
        unchanged = (runs.c.id == run.id) & (runs.c.version == run.version)
        if self._connection.execute(update(runs).where(unchanged).values(**_columns(stored))).rowcount != 1:
            raise VersionConflict(f"run {run.id} was changed by somebody else since version {run.version}")
        return stored

    def on_item(self, project_id: int, item_iid: int) -> list[Run]:
        """Live runs of an item, oldest first."""
        statement = (
            select(runs.c.body)
            .where(runs.c.project_id == project_id, runs.c.item_iid == item_iid, runs.c.status.in_(sorted(LIVE)))
            .order_by(runs.c.created_at, runs.c.number)
        )
        return [Run.model_validate_json(body) for body in self._connection.scalars(statement)]

    def listed(
        self, *, project_ids: Sequence[int] | None = None, status: RunStatus | None = None, item_iid: int | None = None
    ) -> list[Run]:
        """Newest first. An empty `project_ids` means none of them."""
        statement = select(runs.c.body).order_by(runs.c.created_at.desc(), runs.c.number.desc())
        if project_ids is not None:
            statement = statement.where(runs.c.project_id.in_(project_ids))
        if status is not None:
            statement = statement.where(runs.c.status == status.value)
        if item_iid is not None:
            statement = statement.where(runs.c.item_iid == item_iid)
        return [Run.model_validate_json(body) for body in self._connection.scalars(statement)]


def _columns(run: Run) -> dict[str, Any]:
    return {
        "project_id": run.project_id,
        "item_iid": run.item_iid,
        "status": run.status.value,
        "version": run.version,
        "body": run.model_dump_json(),
    }
