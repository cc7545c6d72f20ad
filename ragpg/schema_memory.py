"""The table of remembered texts as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)


def add_memory(metadata: MetaData) -> None:
    """Add ragpg.memory."""
    document = [f"{metadata.schema}.document.namespace_id", f"{metadata.schema}.document.id"]
    Table(
        "memory",
        metadata,
        Column("namespace_id", Integer, primary_key=True, autoincrement=False),
        Column("document_id", BigInteger, primary_key=True, autoincrement=False),
        Column("key", Text(collation="C")),
        Column("remembered_at", DateTime(timezone=True), nullable=False, server_default="now()"),
        Column("last_seen_at", DateTime(timezone=True), nullable=False, server_default="now()"),
        Column("seen", Integer, nullable=False, server_default="1"),
        Column("superseded_by", BigInteger),
        Column("superseded_at", DateTime(timezone=True)),
        CheckConstraint("seen > 0"),
        CheckConstraint("superseded_by <> document_id"),
        ForeignKeyConstraint(["namespace_id", "document_id"], document, ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["namespace_id", "superseded_by"], document, ondelete="SET NULL (superseded_by)"
        ),
        Index("memory_key", "namespace_id", "key", postgresql_where=text("key is not null")),
        Index(
            "memory_superseded_by",
            "namespace_id",
            "superseded_by",
            postgresql_where=text("superseded_by is not null"),
        ),
    )
