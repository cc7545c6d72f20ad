"""The tables of the graph as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSQUERY


def add_graph(metadata: MetaData) -> None:
    """Add entities and edges, then what an analysis derives of them."""
    _entities(metadata)
    _analysis(metadata)


def _namespace(metadata: MetaData, *, owned: bool = False) -> Column[int]:
    """The leading column of every key; `owned` where no other foreign key leads there."""
    owner = [ForeignKey(f"{metadata.schema}.namespace.id", ondelete="CASCADE")] if owned else []
    return Column("namespace_id", Integer, *owner, primary_key=True, autoincrement=False)


def _key(name: str) -> Column[int]:
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def _id(**options: Any) -> Column[int]:
    return Column("id", BigInteger, Identity(always=True), nullable=False, **options)


def _weight(**options: Any) -> Column[float]:
    return Column("weight", REAL, nullable=False, **options)


def _plain(name: str, default: str | None = "") -> Column[str]:
    return Column(name, Text, nullable=False, server_default=default)


def _exact(name: str, **options: Any) -> Column[str]:
    return Column(name, Text(collation="C"), nullable=False, **options)


def _to(
    metadata: MetaData, table: str, column: str, ondelete: str = "CASCADE"
) -> ForeignKeyConstraint:
    there = f"{metadata.schema}.{table}"
    return ForeignKeyConstraint(
        ["namespace_id", column], [f"{there}.namespace_id", f"{there}.id"], ondelete=ondelete
    )


def _ways(table: Table, *also: str) -> None:
    """The two covering indexes of an edge table, one for each direction."""
    heaviest = table.c.weight.desc()
    for near, far in (("source", "target"), ("target", "source")):
        Index(
            f"{table.name}_{near}",
            table.c.namespace_id,
            table.c[near],
            heaviest,
            postgresql_include=[far, *also],
        )


def _entities(metadata: MetaData) -> None:
    Table(
        "entity",
        metadata,
        _namespace(metadata, owned=True),
        _id(primary_key=True),
        _exact("key"),
        _plain("name", None),
        _plain("kind", "name"),
        Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
        UniqueConstraint("namespace_id", "key"),
    )
    mention = Table(
        "mention",
        metadata,
        _namespace(metadata),
        _key("chunk_id"),
        _key("entity_id"),
        _exact("origin", primary_key=True, server_default="names"),
        _id(),
        _weight(server_default=text("1")),
        _plain("description"),
        _to(metadata, "chunk", "chunk_id"),
        _to(metadata, "entity", "entity_id"),
    )
    columns = mention.c
    heaviest = columns.weight.desc()
    Index("mention_entity", columns.namespace_id, columns.entity_id, heaviest, columns.chunk_id)
    topic = Table(
        "topic",
        metadata,
        _namespace(metadata),
        _key("document_id"),
        _key("entity_id"),
        _id(),
        _weight(server_default=text("1")),
        _to(metadata, "document", "document_id"),
        _to(metadata, "entity", "entity_id"),
    )
    columns = topic.c
    heaviest = columns.weight.desc()
    Index("topic_entity", columns.namespace_id, columns.entity_id, heaviest, columns.document_id)
    Table(
        "phrase",
        metadata,
        _namespace(metadata),
        _key("entity_id"),
        _exact("anchor"),
        Column("query", TSQUERY, nullable=False),
        _to(metadata, "entity", "entity_id"),
        Index("phrase_anchor", "anchor", "namespace_id"),
    )
    relation = Table(
        "relation",
        metadata,
        _namespace(metadata),
        _key("chunk_id"),
        _key("source"),
        _key("target"),
        _exact("kind", primary_key=True),
        _id(),
        _weight(server_default=text("1")),
        _plain("description"),
        _to(metadata, "entity", "source"),
        _to(metadata, "entity", "target"),
        _to(metadata, "chunk", "chunk_id"),
    )
    _ways(relation, "kind", "chunk_id")


def _analysis(metadata: MetaData) -> None:
    Table(
        "graph_state",
        metadata,
        _namespace(metadata, owned=True),
        Column("analysed_at", DateTime(timezone=True), nullable=False),
        Column("documents", BigInteger, nullable=False),
        Column("details", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    )
    edge = Table(
        "edge",
        metadata,
        _namespace(metadata),
        _key("source"),
        _key("target"),
        _exact("kind", primary_key=True),
        _id(),
        _weight(),
        _to(metadata, "document", "source"),
        _to(metadata, "document", "target"),
    )
    _ways(edge, "kind")
    Table(
        "community",
        metadata,
        _namespace(metadata, owned=True),
        _id(primary_key=True),
        _plain("name"),
        Column("size", Integer, nullable=False, server_default=text("0")),
        Column("hub_id", BigInteger),
        Column("digest", LargeBinary),
        _to(metadata, "document", "hub_id", "SET NULL (hub_id)"),
        Index("community_hub", "namespace_id", "hub_id"),
    )
    for node in ("document", "entity"):
        rank = Table(
            f"{node}_rank",
            metadata,
            _namespace(metadata),
            _key(f"{node}_id"),
            Column("pagerank", REAL, nullable=False, server_default=text("0")),
            Column("community_id", BigInteger),
            _to(metadata, node, f"{node}_id"),
            _to(metadata, "community", "community_id", "SET NULL (community_id)"),
        )
        Index(
            f"{node}_rank_community",
            rank.c.namespace_id,
            rank.c.community_id,
            rank.c.pagerank.desc(),
            postgresql_include=[f"{node}_id"],
        )
