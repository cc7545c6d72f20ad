"""The tables of extractions and reports as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from ragpg.schema_columns import (
    key_column,
    namespace_column,
    reference,
    text_column,
    time_column,
)


def add_extraction(metadata: MetaData) -> None:
    """Add what chat models said of chunks and communities."""
    schema = metadata.schema

    Table(
        "extraction_cache",
        metadata,
        namespace_column(metadata, owned=True),
        text_column("extractor", exact=True, primary_key=True),
        Column("hash", LargeBinary, primary_key=True),
        Column("result", JSONB, nullable=False),
        time_column("created_at"),
        CheckConstraint("extractor <> ''"),
        CheckConstraint("jsonb_typeof(result) = 'object'"),
    )
    Table(
        "extraction",
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        text_column("extractor", exact=True),
        Column("hash", LargeBinary, nullable=False),
        reference(metadata, "chunk", "chunk_id"),
    )
    Table(
        "community_report",
        metadata,
        namespace_column(metadata, owned=True),
        text_column("reporter", exact=True, primary_key=True),
        Column("digest", LargeBinary, primary_key=True),
        Column("community_id", BigInteger),
        Column("members", ARRAY(BigInteger), nullable=False),
        text_column("title"),
        text_column("summary"),
        Column("findings", JSONB, nullable=False, server_default=text("'[]'")),
        Column("lexemes", TSVECTOR, nullable=False),
        Column(
            "space_id", Integer, ForeignKey(f"{schema}.embedding_space.id", ondelete="SET NULL")
        ),
        Column("embedding", VECTOR()),
        time_column("created_at"),
        CheckConstraint("reporter <> ''"),
        CheckConstraint("title <> ''"),
        CheckConstraint("summary <> ''"),
        CheckConstraint("jsonb_typeof(findings) = 'array'"),
        reference(metadata, "community", "community_id", "SET NULL (community_id)"),
        Index("community_report_community", "namespace_id", "community_id"),
        Index("community_report_space", "space_id"),
    )
