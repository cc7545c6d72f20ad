"""The tables of the learning loop as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    text,
)


def add_feedback(metadata: MetaData) -> None:
    """Add ragpg.feedback and ragpg.feedback_rank."""
    schema = metadata.schema
    chunk = [f"{schema}.chunk.namespace_id", f"{schema}.chunk.id"]
    Table(
        "feedback",
        metadata,
        Column("namespace_id", Integer, primary_key=True, autoincrement=False),
        Column("chunk_id", BigInteger, primary_key=True, autoincrement=False),
        Column("rank", SmallInteger, primary_key=True, autoincrement=False),
        Column("shown", BigInteger, nullable=False),
        Column("followed", BigInteger, nullable=False, server_default=text("0")),
        *(
            Column(name, DateTime(timezone=True), nullable=False, server_default=text("now()"))
            for name in ("first_at", "last_at")
        ),
        CheckConstraint("rank between 1 and 20"),
        CheckConstraint("shown > 0"),
        CheckConstraint("followed between 0 and shown"),
        ForeignKeyConstraint(["namespace_id", "chunk_id"], chunk, ondelete="CASCADE"),
    )
    owner = ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE")
    Table(
        "feedback_rank",
        metadata,
        Column("namespace_id", Integer, owner, primary_key=True, autoincrement=False),
        Column("rank", SmallInteger, primary_key=True, autoincrement=False),
        Column("shown", BigInteger, nullable=False),
        Column("followed", BigInteger, nullable=False),
        CheckConstraint("rank between 1 and 20"),
    )
