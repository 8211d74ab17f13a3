"""Resume documents in the database, byte for byte (`bot.ports.Resumes`). Not here: what they say (`core.goal`)."""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, select, update

from bot.adapters.store.once import inserted
from bot.adapters.tables import resumes
from bot.core.errors import VersionConflict
from bot.ports import StoredResume


class SqlResumes:
    """One a run and round, never changed after that, except when it was delivered."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, resume: StoredResume) -> None:
        """Raises `VersionConflict` when the run's round has one already."""
        values = {
            "id": resume.id,
            "run_id": resume.run_id,
            "round": resume.round,
            "document": resume.document,
            "created_at": resume.created_at,
            "delivered_at": resume.delivered_at,
        }
        if not inserted(self._connection, resumes, values):
            raise VersionConflict(f"round {resume.round} of run {resume.run_id} has its resume already")

    def get(self, resume_id: str) -> StoredResume | None:
        return self._one(resumes.c.id == resume_id)

    def of_round(self, run_id: str, round_: int) -> StoredResume | None:
        return self._one((resumes.c.run_id == run_id) & (resumes.c.round == round_))

    def delivered(self, resume_id: str, at: datetime) -> None:
        """The first time stays: the same bytes may be served again."""
        first = (resumes.c.id == resume_id) & resumes.c.delivered_at.is_(None)
        self._connection.execute(update(resumes).where(first).values(delivered_at=at))

    def _one(self, which: ColumnElement[bool]) -> StoredResume | None:
        row = self._connection.execute(select(resumes).where(which)).one_or_none()
        if row is None:
            return None
        return StoredResume(row.id, row.run_id, row.round, bytes(row.document), row.created_at, row.delivered_at)
