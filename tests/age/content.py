"""Graphs for tests, written as rows, and what Cypher makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import psycopg

    Connection = psycopg.Connection[Any]


def namespace(db: Connection, name: str = "default") -> int:
    """The id of a namespace, made where it is missing."""
    found: int = _value(db, "select ragpg.create_namespace(%s)", name)
    return found


def document(db: Connection, owner: int, source: str, title: str = "") -> int:
    """A document with one chunk; returns its id."""
    made: int = _value(
        db,
        "insert into ragpg.document (namespace_id, source, title) values (%s, %s, %s) returning id",
        owner, source, title or source,
    )  # fmt: skip
    chunk(db, owner, made, 0)
    return made


def chunk(db: Connection, owner: int, of: int, ordinal: int) -> int:
    """A chunk of a document; returns its id."""
    made: int = _value(
        db,
        "insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)"
        " values (%s, %s, %s, 'text', '') returning id",
        owner, of, ordinal,
    )  # fmt: skip
    return made


def entity(db: Connection, owner: int, name: str, *, key: str | None = None) -> int:
    """An entity that the first chunk of the namespace mentions; returns its id."""
    made: int = _value(
        db,
        "with made as (insert into ragpg.entity (namespace_id, key, name) values (%s, %s, %s)"
        "   returning namespace_id, id)"
        " select id from made",
        owner, name if key is None else key, name,
    )  # fmt: skip
    return made


def mention(db: Connection, owner: int, of: int, entity_id: int, description: str = "") -> None:
    """The first chunk of a document mentions an entity."""
    db.execute(
        "insert into ragpg.mention (namespace_id, chunk_id, entity_id, description)"
        " select namespace_id, id, %s, %s from ragpg.chunk"
        "  where namespace_id = %s and document_id = %s order by ordinal limit 1",
        [entity_id, description, owner, of],
    )


def relation(
    db: Connection, owner: int, of: int, source: int, kind: str, target: int, description: str = ""
) -> None:
    """The first chunk of a document says that two entities are related."""
    db.execute(
        "insert into ragpg.relation (namespace_id, source, target, kind, chunk_id, description)"
        " select namespace_id, %s, %s, %s, id, %s from ragpg.chunk"
        "  where namespace_id = %s and document_id = %s order by ordinal limit 1",
        [source, target, kind, description, owner, of],
    )


def link(db: Connection, owner: int, source: int, target: int) -> None:
    """A resolved link from one document to another."""
    db.execute(
        "insert into ragpg.link (namespace_id, document_id, target, anchor, target_id, matches)"
        " select %s, %s, source, '', id, 1 from ragpg.document where namespace_id = %s and id = %s",
        [owner, source, owner, target],
    )


def communities(db: Connection, owner: int, members: Mapping[str, Iterable[int]]) -> None:
    """Communities of documents, by name."""
    for name, documents in members.items():
        made = _value(
            db,
            "insert into ragpg.community (namespace_id, name, size) values (%s, %s, %s)"
            " returning id",
            owner, name, len(list(documents)),
        )  # fmt: skip
        for one in documents:
            db.execute(
                "insert into ragpg.document_rank (namespace_id, document_id, pagerank, community_id)"
                " values (%s, %s, 0.1, %s)",
                [owner, one, made],
            )


def cypher(
    db: Connection, query: str, *, namespace: str = "default", **params: Any
) -> list[dict[str, Any]]:
    """The rows of a query."""
    rows = db.execute(
        "select * from ragpg.cypher(%s, %s, %s)", [query, json.dumps(params), namespace]
    ).fetchall()
    return [row[0] for row in rows]


def differences(db: Connection, name: str = "default") -> dict[str, tuple[int, int]]:
    """What a sync had to add and take away, by label: empty when the mirror was right."""
    rows = db.execute("select * from ragpg.sync_cypher_graph(%s)", [name]).fetchall()
    return {label: (added, removed) for label, added, removed, _ in rows if added or removed}


def _value(db: Connection, statement: str, *values: Any) -> Any:
    row = db.execute(statement.encode(), values).fetchone()
    assert row
    return row[0]
