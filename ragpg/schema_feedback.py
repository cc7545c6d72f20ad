"""The tables of the learning loop as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    MetaData,
    SmallInteger,
    Table,
    text,
)

from ragpg.schema_columns import key_column, namespace_column, reference, time_column


def add_feedback(metadata: MetaData) -> None:
    """Add ragpg.feedback and ragpg.feedback_rank."""
    Table(
        "feedback",
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        Column("rank", SmallInteger, primary_key=True, autoincrement=False),
        Column("shown", BigInteger, nullable=False),
        Column("followed", BigInteger, nullable=False, server_default=text("0")),
        time_column("first_at"),
        time_column("last_at"),
        CheckConstraint("rank between 1 and 20"),
        CheckConstraint("shown > 0"),
        CheckConstraint("followed between 0 and shown"),
        reference(metadata, "chunk", "chunk_id"),
    )
    Table(
        "feedback_rank",
        metadata,
        namespace_column(metadata, owned=True),
        Column("rank", SmallInteger, primary_key=True, autoincrement=False),
        Column("shown", BigInteger, nullable=False),
        Column("followed", BigInteger, nullable=False),
        CheckConstraint("rank between 1 and 20"),
    )
