"""The tables as SQLAlchemy metadata: for joins in host applications and for `alembic check`.

    from ragpg.schema import tables
    chunk = tables().tables["ragpg.chunk"]
    select(orders.c.id, chunk.c.content).join(chunk, ...)

Read as much as you like; write through the functions and the client, which keep the keyword index,
the statistics and the embeddings in step. Revisions create the tables, never this metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from ragpg.errors import ConfigError
from ragpg.schema_extraction import add_extraction
from ragpg.schema_feedback import add_feedback
from ragpg.schema_graph import add_graph
from ragpg.schema_jobs import add_jobs
from ragpg.schema_memory import add_memory
from ragpg.sqlfiles import DEFAULT_SCHEMA, check_schema

if TYPE_CHECKING:
    from sqlalchemy.schema import SchemaItem


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
    Table(
        "install",
        metadata,
        Column("only_row", Boolean, primary_key=True, server_default=text("true")),
        _text("version"),
        _text("digest"),
        _time("installed_at"),
        CheckConstraint("only_row"),
    )
    return metadata


def embedding_table(
    metadata: MetaData, space_id: int, *, dimensions: int, kind: str = "halfvec"
) -> Table:
    """The table of one space; `embedding_space` holds its dimensions and type (here `kind`)."""
    kinds: dict[str, Any] = {"halfvec": HALFVEC, "vector": VECTOR}
    if kind not in kinds:
        raise ConfigError(f"embedding type {kind!r} is not one of halfvec, vector")
    return Table(
        f"embedding_{space_id:d}",
        metadata,
        Column("namespace_id", Integer, primary_key=True),
        Column("chunk_id", BigInteger, primary_key=True),
        Column("embedding", kinds[kind](dimensions), nullable=False),
        extend_existing=True,
    )


def sentence_table(
    metadata: MetaData, space_id: int, *, dimensions: int, kind: str = "halfvec"
) -> Table:
    """The sentence vectors of one space, where it has any; as `embedding_table`."""
    kinds: dict[str, Any] = {"halfvec": HALFVEC, "vector": VECTOR}
    if kind not in kinds:
        raise ConfigError(f"embedding type {kind!r} is not one of halfvec, vector")
    return Table(
        f"sentence_{space_id:d}",
        metadata,
        Column("namespace_id", Integer, primary_key=True),
        Column("chunk_id", BigInteger, primary_key=True),
        Column("ordinal", SmallInteger, primary_key=True),
        Column("start_char", Integer, nullable=False),
        Column("end_char", Integer, nullable=False),
        Column("embedding", kinds[kind](dimensions), nullable=False),
        extend_existing=True,
    )


def _text(name: str, *items: SchemaItem, exact: bool = False, **options: Any) -> Column[str]:
    """A text column; `exact` compares byte by byte, as names must."""
    options.setdefault("nullable", False)
    return Column(name, Text(collation="C") if exact else Text(), *items, **options)


def _time(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("now()"))


def _json(name: str) -> Column[Any]:
    return Column(name, JSONB, nullable=False, server_default=text("'{}'::jsonb"))


def _big_identity(**options: Any) -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), nullable=False, **options)


def _path(source: str) -> Column[str]:
    """A source as links are matched: small letters, without ending and front page."""
    return _text(
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
        _text("model"),
        Column("dimensions", Integer, nullable=False),
        _text("type", server_default="halfvec"),
        _time("created_at"),
        UniqueConstraint("model", "dimensions", "type"),
    )
    Table(
        "namespace",
        metadata,
        Column("id", Integer, Identity(always=True), primary_key=True),
        _text("name", exact=True, unique=True),
        _text("kind", server_default="knowledge"),
        _text("text_search_config", server_default="english"),
        Column("space_id", Integer, ForeignKey(f"{schema}.embedding_space.id")),
        Column("average_length", REAL),
        _json("settings"),
        _time("created_at"),
        Index("namespace_space_id", "space_id"),
    )
    Table(
        "namespace_access",
        metadata,
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        _text("role_name", exact=True, primary_key=True),
    )
    Table(
        "namespace_space",
        metadata,
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("space_id", Integer, ForeignKey(f"{schema}.embedding_space.id"), primary_key=True),
        _text("state"),
        _time("since"),
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
        _time("created_at"),
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
    schema = metadata.schema
    document_key = [f"{schema}.document.namespace_id", f"{schema}.document.id"]
    Table(
        "document",
        metadata,
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        _big_identity(primary_key=True),
        _text("source", exact=True),
        _text("title", server_default=""),
        _text("format", server_default="text"),
        Column("content_hash", LargeBinary),
        Column("fingerprint", LargeBinary),
        _json("metadata"),
        Column("version", Integer, nullable=False, server_default=text("1")),
        _text("status", server_default="ready"),
        _text("error", nullable=True),
        _time("created_at"),
        _time("updated_at"),
        _path("source"),
        UniqueConstraint("namespace_id", "source"),
        Index("document_path", "namespace_id", text("left(reverse(path), 600)")),
    )
    chunk = Table(
        "chunk",
        metadata,
        Column("namespace_id", Integer, primary_key=True),
        _big_identity(primary_key=True),
        Column("document_id", BigInteger, nullable=False),
        Column("ordinal", Integer, nullable=False),
        _text("content"),
        _text("prefix", server_default=""),
        _text("breadcrumb", server_default=""),
        Column("start_char", Integer),
        Column("end_char", Integer),
        Column("start_line", Integer),
        Column("end_line", Integer),
        Column("page", Integer),
        _json("metadata"),
        Column("content_hash", LargeBinary, nullable=False),
        Column("embedding_hash", LargeBinary),
        _time("created_at"),
        ForeignKeyConstraint(["namespace_id", "document_id"], document_key, ondelete="CASCADE"),
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
        Column("namespace_id", Integer, primary_key=True),
        Column("document_id", BigInteger, primary_key=True),
        _text("target", exact=True, primary_key=True),
        _text("anchor", primary_key=True, server_default=""),
        _big_identity(),
        _path("target"),
        Column("target_id", BigInteger),
        Column("matches", SmallInteger, nullable=False, server_default=text("0")),
        ForeignKeyConstraint(["namespace_id", "document_id"], document_key, ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["namespace_id", "target_id"], document_key, ondelete="SET NULL (target_id)"
        ),
        Index("link_target", "namespace_id", "target"),
        Index("link_path", "namespace_id", text('left("path", 600)')),
        Index("link_out", "namespace_id", "document_id", postgresql_include=["target_id"]),
        Index(
            "link_in",
            "namespace_id",
            "target_id",
            postgresql_include=["document_id"],
            postgresql_where=text("target_id is not null"),
        ),
    )


def _keywords(metadata: MetaData) -> None:
    schema = metadata.schema
    Table(
        "chunk_keyword",
        metadata,
        Column("namespace_id", Integer, primary_key=True),
        Column("chunk_id", BigInteger, primary_key=True),
        Column("length", REAL, nullable=False),
        Column("bm25", SPARSEVEC(), nullable=False),
        Column("lexemes", TSVECTOR, nullable=False),
        Index("chunk_keyword_lexemes", "namespace_id", "lexemes", postgresql_using="gin"),
    )
    Table(
        "lexeme_statistics",
        metadata,
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        _text("lexeme", exact=True, primary_key=True),
        Column("documents", BigInteger, nullable=False),
    )
    Table(
        "namespace_statistics",
        metadata,
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{schema}.namespace.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("chunks", BigInteger, nullable=False, server_default=text("0")),
        Column("length", Double, nullable=False, server_default=text("0")),
    )
    Table(
        "keyword_log",
        metadata,
        _big_identity(primary_key=True),
        Column("namespace_id", Integer, nullable=False),
        Column("sign", SmallInteger, nullable=False),
        Column("chunks", Integer, nullable=False),
        Column("length", Double, nullable=False),
        Column("lexemes", ARRAY(TSVECTOR), nullable=False),
    )
