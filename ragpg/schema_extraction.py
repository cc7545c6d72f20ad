"""The tables of extractions and reports as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR


def add_extraction(metadata: MetaData) -> None:
    """Add what chat models said of chunks and communities."""
    schema = metadata.schema

    def owner() -> Column[int]:
        there = ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE")
        return Column("namespace_id", Integer, there, primary_key=True, autoincrement=False)

    def made() -> Column[object]:
        return Column(
            "created_at", DateTime(timezone=True), nullable=False, server_default=text("now()")
        )

    Table(
        "extraction_cache",
        metadata,
        owner(),
        Column("extractor", Text(collation="C"), primary_key=True),
        Column("hash", LargeBinary, primary_key=True),
        Column("result", JSONB, nullable=False),
        made(),
        CheckConstraint("extractor <> ''"),
        CheckConstraint("jsonb_typeof(result) = 'object'"),
    )
    Table(
        "extraction",
        metadata,
        Column("namespace_id", Integer, primary_key=True, autoincrement=False),
        Column("chunk_id", BigInteger, primary_key=True, autoincrement=False),
        Column("extractor", Text(collation="C"), nullable=False),
        Column("hash", LargeBinary, nullable=False),
        ForeignKeyConstraint(
            ["namespace_id", "chunk_id"],
            [f"{schema}.chunk.namespace_id", f"{schema}.chunk.id"],
            ondelete="CASCADE",
        ),
    )
    Table(
        "community_report",
        metadata,
        owner(),
        Column("reporter", Text(collation="C"), primary_key=True),
        Column("digest", LargeBinary, primary_key=True),
        Column("community_id", BigInteger),
        Column("members", ARRAY(BigInteger), nullable=False),
        Column("title", Text, nullable=False),
        Column("summary", Text, nullable=False),
        Column("findings", JSONB, nullable=False, server_default=text("'[]'")),
        Column("lexemes", TSVECTOR, nullable=False),
        Column(
            "space_id", Integer, ForeignKey(f"{schema}.embedding_space.id", ondelete="SET NULL")
        ),
        Column("embedding", VECTOR()),
        made(),
        CheckConstraint("reporter <> ''"),
        CheckConstraint("title <> ''"),
        CheckConstraint("summary <> ''"),
        CheckConstraint("jsonb_typeof(findings) = 'array'"),
        ForeignKeyConstraint(
            ["namespace_id", "community_id"],
            [f"{schema}.community.namespace_id", f"{schema}.community.id"],
            ondelete="SET NULL (community_id)",
        ),
        Index("community_report_community", "namespace_id", "community_id"),
        Index("community_report_space", "space_id"),
    )
