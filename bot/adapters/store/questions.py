"""Questions as asked, in the database (`bot.ports.Questions`). Not here: how a thread is read (`core.classify`)."""

from typing import Any

from sqlalchemy import Connection, select, update

from bot.adapters.store.once import inserted
from bot.adapters.tables import questions
from bot.core.errors import VersionConflict
from bot.core.models import AskedQuestion


class SqlQuestions:
    """One JSON text a question; `version` guards it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, asked: AskedQuestion) -> None:
        """Raises `VersionConflict` when the id is taken."""
        if not inserted(self._connection, questions, {"id": asked.id, "run_id": asked.run_id, **_columns(asked)}):
            raise VersionConflict(f"question {asked.id} was stored by somebody else first")

    def get(self, question_id: str) -> AskedQuestion | None:
        body = self._connection.scalar(select(questions.c.body).where(questions.c.id == question_id))
        return None if body is None else AskedQuestion.model_validate_json(body)

    def save(self, asked: AskedQuestion) -> AskedQuestion:
        stored = asked.model_copy(update={"version": asked.version + 1})
        unchanged = (questions.c.id == asked.id) & (questions.c.version == asked.version)
        if self._connection.execute(update(questions).where(unchanged).values(**_columns(stored))).rowcount != 1:
            raise VersionConflict(f"question {asked.id} was changed by somebody else since version {asked.version}")
        return stored

    def of_run(self, run_id: str) -> list[AskedQuestion]:
        """All questions of a run, by round and position."""
        order = (questions.c.round, questions.c.position, questions.c.id)
        statement = select(questions.c.body).where(questions.c.run_id == run_id).order_by(*order)
        return [AskedQuestion.model_validate_json(body) for body in self._connection.scalars(statement)]

    def in_thread(self, project_id: int, discussion_id: str) -> AskedQuestion | None:
        here = (questions.c.project_id == project_id) & (questions.c.discussion_id == discussion_id)
        body = self._connection.scalar(select(questions.c.body).where(here).order_by(questions.c.round.desc()).limit(1))
        return None if body is None else AskedQuestion.model_validate_json(body)


def _columns(asked: AskedQuestion) -> dict[str, Any]:
    return {
        "round": asked.round,
        "position": asked.position,
        "project_id": asked.project_id,
        "item_iid": asked.item_iid,
        "discussion_id": asked.discussion_id,
        "note_id": asked.note_id,
        "state": asked.state.value,
        "version": asked.version,
        "body": asked.model_dump_json(),
    }
