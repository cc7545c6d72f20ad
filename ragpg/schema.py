"""The tables as SQLAlchemy metadata: for joins in host applications and for `alembic check`.

    from ragpg.schema import tables
    chunk = tables().tables["ragpg.chunk"]
    select(orders.c.id, chunk.c.content).join(chunk, ...)

Read as much as you like; write through the functions and the client, which keep the keyword index,
the statistics and the embeddings in step. Revisions create the tables, never this metadata.
"""

from __future__ import annotations

from typing import Any

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC, VECTOR
from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

from ragpg.errors import ConfigError
from ragpg.schema_columns import (
    big_identity,
    json_column,
    key_column,
    namespace_column,
    reference,
    text_column,
    time_column,
)
from ragpg.schema_extraction import add_extraction
from ragpg.schema_feedback import add_feedback
from ragpg.schema_graph import add_graph
from ragpg.schema_jobs import add_jobs
from ragpg.schema_memory import add_memory
from ragpg.schema_usage import add_usage
from ragpg.sqlfiles import DEFAULT_SCHEMA, check_schema


def tables(schema: str = DEFAULT_SCHEMA) -> MetaData:
    """All tables at head, keyed as `ragpg.chunk`; see `embedding_table` for the vectors."""
    metadata = MetaData(schema=check_schema(schema))
    _spaces(metadata)
    _documents(metadata)
    _keywords(metadata)
    add_graph(metadata)
    add_extraction(metadata)
    add_memory(metadata)
    add_jobs(metadata)
    add_feedback(metadata)
    add_usage(metadata)
    Table(
        "install",
        metadata,
        Column("only_row", Boolean, primary_key=True, server_default=text("true")),
        text_column("version"),
        text_column("digest"),
        time_column("installed_at"),
        CheckConstraint("only_row"),
    )
    return metadata


def embedding_table(
    metadata: MetaData, space_id: int, *, dimensions: int, kind: str = "halfvec"
) -> Table:
    """The table of one space; `embedding_space` holds its dimensions and type (here `kind`)."""
    return _vectors(metadata, f"embedding_{space_id:d}", dimensions, kind)


def sentence_table(
    metadata: MetaData, space_id: int, *, dimensions: int, kind: str = "halfvec"
) -> Table:
    """The sentence vectors of one space, where it has any; as `embedding_table`."""
    return _vectors(
        metadata,
        f"sentence_{space_id:d}",
        dimensions,
        kind,
        Column("ordinal", SmallInteger, primary_key=True),
        Column("start_char", Integer, nullable=False),
        Column("end_char", Integer, nullable=False),
    )


def _vectors(
    metadata: MetaData, name: str, dimensions: int, kind: str, *more: Column[int]
) -> Table:
    kinds: dict[str, Any] = {"halfvec": HALFVEC, "vector": VECTOR}
    if kind not in kinds:
        raise ConfigError(f"embedding type {kind!r} is not one of halfvec, vector")
    return Table(
        name,
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        *more,
        Column("embedding", kinds[kind](dimensions), nullable=False),
        extend_existing=True,
    )


def _path(source: str) -> Column[str]:
    """A source as links are matched: small letters, without ending and front page."""
    return text_column(
        "path",
        Computed(
            f"""regexp_replace(regexp_replace(lower({source} collate pg_c_utf8),
  '\\.(md|mdx|markdown|html?|xhtml|rst|txt|adoc)$', ''), '(^|/)(_?index|readme)$', '') collate "C"""
            '"',
            persisted=True,
        ),
        exact=True,
    )


def _spaces(metadata: MetaData) -> None:
    schema = metadata.schema
    Table(
        "embedding_space",
        metadata,
        Column("id", Integer, Identity(always=True), primary_key=True),
        text_column("model"),
        Column("dimensions", Integer, nullable=False),
        text_column("type", server_default="halfvec"),
        time_column("created_at"),
        UniqueConstraint("model", "dimensions", "type"),
    )
    Table(
        "namespace",
        metadata,
        Column("id", Integer, Identity(always=True), primary_key=True),
        text_column("name", exact=True, unique=True),
        text_column("kind", server_default="knowledge"),
        text_column("text_search_config", server_default="english"),
        Column("space_id", Integer, ForeignKey(f"{schema}.embedding_space.id")),
        Column("average_length", REAL),
        json_column("settings"),
        time_column("created_at"),
        Index("namespace_space_id", "space_id"),
    )
    Table(
        "namespace_access",
        metadata,
        namespace_column(metadata, owned=True),
        text_column("role_name", exact=True, primary_key=True),
    )
    Table(
        "namespace_space",
        metadata,
        namespace_column(metadata, owned=True),
        Column("space_id", Integer, ForeignKey(f"{schema}.embedding_space.id"), primary_key=True),
        text_column("state"),
        time_column("since"),
        Index("namespace_space_space_id", "space_id"),
    )
    Table(
        "embedding_cache",
        metadata,
        Column(
            "space_id",
            Integer,
            ForeignKey(f"{schema}.embedding_space.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("hash", LargeBinary, primary_key=True),
        Column("embedding", VECTOR(), nullable=False),
        time_column("created_at"),
    )
    Table(
        "embedding_unused",
        metadata,
        Column("space_id", Integer, primary_key=True, autoincrement=False),
        Column("hash", LargeBinary, primary_key=True),
        time_column("since"),
        ForeignKeyConstraint(
            ["space_id", "hash"],
            [f"{schema}.embedding_cache.space_id", f"{schema}.embedding_cache.hash"],
            ondelete="CASCADE",
        ),
    )
    Table(
        "embedding_claim",
        metadata,
        Column("space_id", Integer, primary_key=True, autoincrement=False),
        Column("hash", LargeBinary, primary_key=True),
        Column("expires_at", DateTime(timezone=True), nullable=False),
        prefixes=["UNLOGGED"],
    )


def _documents(metadata: MetaData) -> None:
    Table(
        "document",
        metadata,
        namespace_column(metadata, owned=True),
        big_identity(primary_key=True),
        text_column("source", exact=True),
        text_column("title", server_default=""),
        text_column("format", server_default="text"),
        Column("content_hash", LargeBinary),
        Column("fingerprint", LargeBinary),
        json_column("metadata"),
        Column("version", Integer, nullable=False, server_default=text("1")),
        text_column("status", server_default="ready"),
        text_column("error", nullable=True),
        time_column("created_at"),
        time_column("updated_at"),
        _path("source"),
        UniqueConstraint("namespace_id", "source"),
        Index("document_path", "namespace_id", text("left(reverse(path), 600)")),
    )
    chunk = Table(
        "chunk",
        metadata,
        namespace_column(metadata),
        big_identity(primary_key=True),
        Column("document_id", BigInteger, nullable=False),
        Column("ordinal", Integer, nullable=False),
        text_column("content"),
        text_column("prefix", server_default=""),
        text_column("breadcrumb", server_default=""),
        Column("start_char", Integer),
        Column("end_char", Integer),
        Column("start_line", Integer),
        Column("end_line", Integer),
        Column("page", Integer),
        json_column("metadata"),
        Column("content_hash", LargeBinary, nullable=False),
        Column("embedding_hash", LargeBinary),
        time_column("created_at"),
        reference(metadata, "document", "document_id"),
        UniqueConstraint("namespace_id", "document_id", "ordinal"),
        Index(
            "chunk_metadata",
            "namespace_id",
            "metadata",
            postgresql_using="gin",
            postgresql_ops={"metadata": "jsonb_path_ops"},
        ),
    )
    Index("chunk_recency", chunk.c.namespace_id, chunk.c.created_at.desc(), chunk.c.id.desc())
    Table(
        "link",
        metadata,
        namespace_column(metadata),
        key_column("document_id"),
        text_column("target", exact=True, primary_key=True),
        text_column("anchor", primary_key=True, server_default=""),
        big_identity(),
        _path("target"),
        Column("target_id", BigInteger),
        Column("matches", SmallInteger, nullable=False, server_default=text("0")),
        reference(metadata, "document", "document_id"),
        reference(metadata, "document", "target_id", "SET NULL (target_id)"),
        Index(
            "link_target",
            "namespace_id",
            "target",
            "document_id",
            postgresql_where=text("matches = 0"),
        ),
        Index("link_path", "namespace_id", text('left("path", 600)')),
        Index(
            "link_in",
            "namespace_id",
            "target_id",
            "document_id",
            postgresql_where=text("target_id is not null"),
        ),
    )


def _keywords(metadata: MetaData) -> None:
    Table(
        "chunk_keyword",
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        Column("length", REAL, nullable=False),
        Column("bm25", SPARSEVEC(), nullable=False),
        Column("lexemes", TSVECTOR, nullable=False),
        Index(
            "chunk_keyword_lexemes",
            "namespace_id",
            "lexemes",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": 256},
        ),
    )
    Table(
        "lexeme_statistics",
        metadata,
        namespace_column(metadata, owned=True),
        text_column("lexeme", exact=True, primary_key=True),
        Column("documents", BigInteger, nullable=False),
    )
    Table(
        "namespace_statistics",
        metadata,
        namespace_column(metadata, owned=True),
        Column("chunks", BigInteger, nullable=False, server_default=text("0")),
        Column("length", Double, nullable=False, server_default=text("0")),
    )
    Table(
        "keyword_log",
        metadata,
        big_identity(primary_key=True),
        Column("namespace_id", Integer, nullable=False),
        Column("sign", SmallInteger, nullable=False),
        Column("chunks", Integer, nullable=False),
        Column("length", Double, nullable=False),
        Column("lexemes", ARRAY(TSVECTOR), nullable=False),
    )
