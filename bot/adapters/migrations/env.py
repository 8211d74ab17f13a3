"""What Alembic runs to migrate: on the connection, and in the transaction, that `adapters.migrate` opened.

Logging stays as the program configured it. Not a module of the program: only Alembic loads this file.
"""

from alembic import context

from bot.adapters.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a column by copying its table
)
with context.begin_transaction():
    context.run_migrations()
