"""The tables of the graph as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from ragpg.schema_columns import (
    big_identity,
    json_column,
    key_column,
    namespace_column,
    reference,
    text_column,
    time_column,
)


def add_graph(metadata: MetaData) -> None:
    """Add entities and edges, then what an analysis derives of them."""
    _entities(metadata)
    _analysis(metadata)


def _weight(**options: Any) -> Column[float]:
    return Column("weight", REAL, nullable=False, **options)


def _plain(name: str, default: str | None = "") -> Column[str]:
    return Column(name, Text, nullable=False, server_default=default)


def _ways(table: Table, *also: str) -> None:
    """The two covering indexes of an edge table, one for each direction, in the order of a walk."""
    heaviest = table.c.weight.desc()
    for near, far in (("source", "target"), ("target", "source")):
        Index(
            f"{table.name}_{near}",
            table.c.namespace_id,
            table.c[near],
            heaviest,
            table.c[far],
            postgresql_include=list(also),
        )


def _entities(metadata: MetaData) -> None:
    Table(
        "entity",
        metadata,
        namespace_column(metadata, owned=True),
        big_identity(primary_key=True),
        text_column("key", exact=True),
        _plain("name", None),
        _plain("kind", "name"),
        time_column("created_at"),
        UniqueConstraint("namespace_id", "key"),
    )
    mention = Table(
        "mention",
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        key_column("entity_id"),
        text_column("origin", exact=True, primary_key=True, server_default="names"),
        big_identity(),
        _weight(server_default=text("1")),
        _plain("description"),
        reference(metadata, "chunk", "chunk_id"),
        reference(metadata, "entity", "entity_id"),
    )
    columns = mention.c
    heaviest = columns.weight.desc()
    Index("mention_entity", columns.namespace_id, columns.entity_id, heaviest, columns.chunk_id)
    topic = Table(
        "topic",
        metadata,
        namespace_column(metadata),
        key_column("document_id"),
        key_column("entity_id"),
        big_identity(),
        _weight(server_default=text("1")),
        reference(metadata, "document", "document_id"),
        reference(metadata, "entity", "entity_id"),
    )
    columns = topic.c
    heaviest = columns.weight.desc()
    Index("topic_entity", columns.namespace_id, columns.entity_id, heaviest, columns.document_id)
    Table(
        "phrase",
        metadata,
        namespace_column(metadata),
        key_column("entity_id"),
        text_column("anchor", exact=True),
        Column("query", TSQUERY, nullable=False),
        text_column("run", exact=True),
        Column("waits", Boolean, nullable=False, server_default=text("false")),
        reference(metadata, "entity", "entity_id"),
        Index("phrase_anchor", "anchor", "namespace_id"),
        Index("phrase_run", "run", "namespace_id"),
        Index("phrase_waits", "namespace_id", "entity_id", postgresql_where=text("waits")),
    )
    relation = Table(
        "relation",
        metadata,
        namespace_column(metadata),
        key_column("chunk_id"),
        key_column("source"),
        key_column("target"),
        text_column("kind", exact=True, primary_key=True),
        big_identity(),
        _weight(server_default=text("1")),
        _plain("description"),
        reference(metadata, "entity", "source"),
        reference(metadata, "entity", "target"),
        reference(metadata, "chunk", "chunk_id"),
    )
    _ways(relation, "kind", "chunk_id")


def _analysis(metadata: MetaData) -> None:
    Table(
        "graph_state",
        metadata,
        namespace_column(metadata, owned=True),
        Column("analysed_at", DateTime(timezone=True), nullable=False),
        Column("documents", BigInteger, nullable=False),
        json_column("details"),
    )
    edge = Table(
        "edge",
        metadata,
        namespace_column(metadata),
        key_column("source"),
        key_column("target"),
        text_column("kind", exact=True, primary_key=True),
        big_identity(),
        _weight(),
        reference(metadata, "document", "source"),
        reference(metadata, "document", "target"),
    )
    _ways(edge, "kind")
    Table(
        "community",
        metadata,
        namespace_column(metadata, owned=True),
        big_identity(primary_key=True),
        _plain("name"),
        Column("size", Integer, nullable=False, server_default=text("0")),
        Column("hub_id", BigInteger),
        Column("digest", LargeBinary),
        reference(metadata, "document", "hub_id", "SET NULL (hub_id)"),
        Index("community_hub", "namespace_id", "hub_id"),
    )
    for node in ("document", "entity"):
        rank = Table(
            f"{node}_rank",
            metadata,
            namespace_column(metadata),
            key_column(f"{node}_id"),
            Column("pagerank", REAL, nullable=False, server_default=text("0")),
            Column("community_id", BigInteger),
            *(Column(name, Integer) for name in ("version", "noted") if node == "document"),
            reference(metadata, node, f"{node}_id"),
            reference(metadata, "community", "community_id", "SET NULL (community_id)"),
        )
        Index(
            f"{node}_rank_community",
            rank.c.namespace_id,
            rank.c.community_id,
            rank.c.pagerank.desc(),
            postgresql_include=[f"{node}_id"],
        )
