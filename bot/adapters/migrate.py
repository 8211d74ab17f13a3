"""Brings a database to the tables this version needs, with Alembic and without an `alembic.ini`.

A migration is one transaction and takes its turn like every writer, so two processes that start at once do it once.
Not here: the steps themselves (`migrations/versions`).
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine

from bot.adapters.engine import reading, shown_url, writing
from bot.core.errors import StoreUnavailable

STEPS = Path(__file__).resolve().parent / "migrations"


def upgrade(engine: Engine) -> None:
    """To the newest version. Raises `StoreUnavailable`, also when the database is newer than this program."""
    newest = head()
    if current(engine) == newest:
        return
    with writing(engine) as connection:
        try:
            command.upgrade(_config(connection), newest)
        except CommandError as error:
            message = f"the database {shown_url(engine.url)} has tables this version does not know ({error})"
            raise StoreUnavailable(f"{message}: install the version that made them, or a newer one") from error


def downgrade(engine: Engine, revision: str) -> None:
    """Back to `revision` (`base`: no tables at all). What the older tables have no place for is lost."""
    with writing(engine) as connection:
        try:
            command.downgrade(_config(connection), revision)
        except CommandError as error:
            raise StoreUnavailable(f"the database {shown_url(engine.url)} cannot go back to {revision!r}: {error}") from error


def current(engine: Engine) -> str | None:
    """The version the database is at; None: no tables yet."""
    with reading(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str:
    """The version this program needs."""
    newest = ScriptDirectory(str(STEPS)).get_current_head()
    if newest is None:
        raise StoreUnavailable(f"no migrations in {STEPS}: the installation is incomplete, install it again")
    return newest


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(STEPS).replace("%", "%%"))  # a percent sign would be interpolated
    return config
