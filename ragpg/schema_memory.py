"""The table of remembered texts as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Index,
    Integer,
    MetaData,
    Table,
    text,
)

from ragpg.schema_columns import (
    key_column,
    namespace_column,
    reference,
    text_column,
    time_column,
)


def add_memory(metadata: MetaData) -> None:
    """Add ragpg.memory."""
    Table(
        "memory",
        metadata,
        namespace_column(metadata),
        key_column("document_id"),
        text_column("key", exact=True, nullable=True),
        time_column("remembered_at"),
        time_column("last_seen_at"),
        Column("seen", Integer, nullable=False, server_default="1"),
        Column("superseded_by", BigInteger),
        Column("superseded_at", DateTime(timezone=True)),
        CheckConstraint("seen > 0"),
        CheckConstraint("superseded_by <> document_id"),
        reference(metadata, "document", "document_id"),
        reference(metadata, "document", "superseded_by", "SET NULL (superseded_by)"),
        Index("memory_key", "namespace_id", "key", postgresql_where=text("key is not null")),
        Index(
            "memory_superseded_by",
            "namespace_id",
            "superseded_by",
            postgresql_where=text("superseded_by is not null"),
        ),
    )
