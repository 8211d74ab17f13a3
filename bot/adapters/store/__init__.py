"""The store on SQLite or PostgreSQL (`bot.ports.Store`): a unit is a transaction, a module here is one facet of it.

Never here: the engine and its errors (`adapters.engine`), tables (`adapters.tables`), or a rule about what is stored.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from bot.adapters.engine import patience_of, reading, writing
from bot.adapters.store.inbox import SqlInbox
from bot.adapters.store.keys import SqlKeys
from bot.adapters.store.outbox import SqlOutbox
from bot.adapters.store.questions import SqlQuestions
from bot.adapters.store.replays import SqlReplays
from bot.adapters.store.resumes import SqlResumes
from bot.adapters.store.runs import SqlRuns
from bot.adapters.store.turns import Turns
from bot.ports import Unit

__all__ = ["SqlStore", "SqlUnit"]


class SqlUnit:
    """The facets of one transaction. Not to be used after it ended, nor from two threads."""

    def __init__(self, connection: Connection) -> None:
        self.runs = SqlRuns(connection)
        self.questions = SqlQuestions(connection)
        self.resumes = SqlResumes(connection)
        self.inbox = SqlInbox(connection)
        self.outbox = SqlOutbox(connection)
        self.keys = SqlKeys(connection)
        self.replays = SqlReplays(connection)


class SqlStore:
    """May be shared by threads; each unit and snapshot takes its own connection. Owns the engine it is given."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turns = Turns(patience_of(engine))

    @contextmanager
    def unit(self) -> Iterator[Unit]:
        with self._turns.turn(), writing(self._engine) as connection:
            yield SqlUnit(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Unit]:
        with reading(self._engine) as connection:
            yield SqlUnit(connection)

    def close(self) -> None:
        self._engine.dispose()
