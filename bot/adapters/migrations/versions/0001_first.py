"""The first tables.

Written out instead of taken from `adapters.tables`: a step must stay what it was when the tables change later.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("number", _row_number(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("item_iid", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_runs")),
        sa.UniqueConstraint("id", name=op.f("uq_runs_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_runs_project_id_item_iid"), "runs", ["project_id", "item_iid"])
    op.create_index(op.f("ix_runs_status"), "runs", ["status"])
    op.create_table(
        "questions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        sa.Column("item_iid", sa.BigInteger(), nullable=False),
        sa.Column("discussion_id", sa.Text()),
        sa.Column("note_id", sa.BigInteger()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_questions_run_id_runs")),
    )
    op.create_index(op.f("ix_questions_run_id_round_position"), "questions", ["run_id", "round", "position"])
    op.create_index(op.f("ix_questions_project_id_discussion_id"), "questions", ["project_id", "discussion_id"])
    op.create_table(
        "resumes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resumes")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_resumes_run_id_runs")),
        sa.UniqueConstraint("run_id", "round", name=op.f("uq_resumes_run_id_round")),
    )
    op.create_table(
        "inbox",
        sa.Column("id", _row_number(), nullable=False),
        sa.Column("delivery_key", sa.Text()),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        *_work(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sa.UniqueConstraint("delivery_key", name=op.f("uq_inbox_delivery_key")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_inbox_fingerprint")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_inbox_state_id"), "inbox", ["state", "id"])
    op.create_table(
        "outbox",
        sa.Column("id", _row_number(), nullable=False),
        sa.Column("effect_id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *_work(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("effect_id", name=op.f("uq_outbox_effect_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_outbox_state_id"), "outbox", ["state", "id"])
    op.create_index(op.f("ix_outbox_lane_state_id"), "outbox", ["lane", "state", "id"])
    op.create_table(
        "flow_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_ids", sa.JSON(), nullable=False),
        sa.Column("owners", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_keys")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_flow_keys_secret_hash")),
    )
    op.create_table(
        "replays",
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("body", sa.Text()),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key", name=op.f("pk_replays")),
    )


def downgrade() -> None:
    for table in ("replays", "flow_keys", "outbox", "inbox", "resumes", "questions", "runs"):
        op.drop_table(table)


def _row_number() -> sa.types.TypeEngine[int]:
    """SQLite counts up only an INTEGER primary key."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _work() -> list[sa.Column[object]]:
    """What inbox and outbox have in common."""
    return [
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text()),
    ]
