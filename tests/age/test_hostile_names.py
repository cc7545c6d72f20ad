"""Hostile names go in, come back equal, are found by exact name, and go again."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.errors import NamespaceNotFound
from ragpg.graph.graph import Graph

from . import content
from .content import cypher, differences

if TYPE_CHECKING:
    Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.extension("age")

NAMES = [
    "It's", 'say "hi"', "C:\\srv\\data", "price $$$ (about $100)", "$tag$ x $tag$", "a\nb\tc",
    "back`tick", "{curly} $param", "组织", "🚀", "x'}) DETACH DELETE n //",
]  # fmt: skip
SAID = "uses $1 and '\\' in \"C:\\new\""
#: What a name is made of: all that means something to SQL, Cypher, JSON, formats or terminals.
PIECES = [
    "'", '"', "\\", "\\\\", "$$", "$1", "$name", "`", "``", "%", "%s", "%(n)s", "{", "}", "[", "]",
    "(", ")", ";", "--", "/*", "*/", "//", "::vertex", "::edge", "::path", "\n", "\r", "\t", "\x01",
    "\x1b[31m", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff", "\ufffd", "é", "e\u0301", "ß", "İ",
    "日本", "🚀", "👩‍👩‍👧", "\U0010ffff", "null", "NaN", "Infinity", "true", "\\u0000", "\\n", "E'",
    "$cypher_$", "}) DETACH DELETE n //", "'; drop schema ragpg cascade; --", " ", "a", "Z", "0",
]  # fmt: skip


@pytest.mark.smoke
@pytest.mark.case("GR-01")
def test_names_are_values_never_text_of_a_query_gr_01(db: Connection) -> None:
    owner = content.namespace(db)
    paper = content.document(db, owner, "d")
    ids = [content.entity(db, owner, name) for name in NAMES]
    for one in ids:
        content.mention(db, owner, paper, one)
        content.relation(db, owner, paper, one, SAID, ids[0], SAID)
    stored = cypher(db, "MATCH (e:Entity) RETURN e.name AS name")
    assert sorted(row["name"] for row in stored) == sorted(NAMES)
    for name in NAMES:
        for query in (
            "MATCH (e:Entity) WHERE e.name = $name RETURN e.name AS name",
            "MATCH (e:Entity {name: $name}) RETURN e.name AS name",
        ):
            assert cypher(db, query, name=name) == [{"name": name}]
    kinds = cypher(
        db, "MATCH (:Entity)-[r:RELATED]->(:Entity) RETURN r.kind AS k, r.description AS d"
    )
    assert kinds == [{"k": SAID, "d": SAID}] * len(NAMES)
    with pytest.raises(psycopg.errors.CheckViolation):
        content.entity(db, owner, "")
    assert len(cypher(db, "MATCH (e:Entity) RETURN e")) == len(NAMES)


@pytest.mark.case("GR-02")
def test_neighbours_are_found_under_the_raw_name_gr_02(db: Connection) -> None:
    names = ['the "green list"', "path\\with\\slashes"]
    owner = content.namespace(db)
    paper = content.document(db, owner, "d")
    one, other = (content.entity(db, owner, name) for name in names)
    content.relation(db, owner, paper, one, "holds", other)
    query = (
        "UNWIND $names AS name MATCH (a:Entity)-[r:RELATED]-(b:Entity) WHERE a.name = name"
        " RETURN a.name AS name, b.name AS neighbour"
    )
    for asked in ([names[0]], [names[1]], names):
        found = cypher(db, query, names=asked)
        assert {row["name"]: row["neighbour"] for row in found} == {
            name: names[1 - names.index(name)] for name in asked
        }
    [[shown]] = db.execute("select ragpg.graph_around('default', %s)", [names[0]]).fetchall()
    assert {node["name"] for node in shown["nodes"]} == set(names)


def _hostile(rng: random.Random, number: int) -> str:
    length = 10_000 if number % 400 == 7 else rng.choice([1, 2, 3, 5, 20])
    if length < 10_000:
        text = "".join(rng.choice(PIECES) for _ in range(length))
    else:
        text = (rng.choice(PIECES) or "x") * 10_000
        text = text.encode()[:10_000].decode(errors="ignore")
    # Names of one namespace differ.
    return f"{text}{number}"


def test_two_thousand_hostile_names_in_found_and_out(rag: ragpg.Client, db: Connection) -> None:
    rng = random.Random(2000)
    names = [_hostile(rng, number) for number in range(2000)]
    assert len(set(names)) == 2000
    owner = content.namespace(db)
    papers = [content.document(db, owner, f"d{number}") for number in range(4)]
    with db.cursor() as cursor:
        cursor.execute(
            "with made as (insert into ragpg.entity (namespace_id, key, name)"
            "   select %s, md5(given.name) || given.place, given.name"
            "     from unnest(%s::text[]) with ordinality as given (name, place) returning id, key)"
            " insert into ragpg.mention (namespace_id, chunk_id, entity_id, description)"
            " select chunk.namespace_id, chunk.id, made.id, made.key from made, ragpg.chunk"
            "  where chunk.document_id = %s + made.id %% 4",
            [owner, names, papers[0]],
        )
    # Titles of documents are entities too.
    titles = [f"d{number}" for number in range(4)]
    rows = cypher(db, "MATCH (e:Entity) RETURN e.name AS name")
    assert sorted({row["name"] for row in rows} - set(titles)) == sorted(names)
    # All of them as parameters in one query, through the index.
    rows = cypher(
        db,
        "UNWIND $names AS n MATCH (e:Entity) WHERE e.name = n RETURN e.name AS name",
        names=names,
    )
    assert sorted(row["name"] for row in rows) == sorted(names)
    assert differences(db) == {}
    # A character that Postgres cannot hold is refused by name and harms nothing.
    with pytest.raises(psycopg.Error, match=r"\\u0000|NUL|0x00"):
        cypher(db, "MATCH (e:Entity) WHERE e.name = $n RETURN e", n="a\0b")
    db.execute("delete from ragpg.entity where id %% 2 = 0".replace("%%", "%"))
    assert differences(db) == {}
    rows = cypher(db, "MATCH (e:Entity) RETURN e.name AS name")
    assert 900 < len({row["name"] for row in rows} - set(titles)) < 1100
    rag.delete(titles)
    assert cypher(db, "MATCH ()-[m:MENTIONS]->() RETURN m") == []
    assert json.loads(json.dumps(differences(db))) == {}


def test_a_hint_names_the_command_without_the_name_of_the_namespace(database: str) -> None:
    """It is copied into a shell, where the name of someone else would run."""
    name = "x'; echo $(id) #"
    with psycopg.connect(database, autocommit=True) as db:
        content.namespace(db, name)
        db.execute("select ragpg.set_cypher_mode(%s, 'off')", [name])
        with pytest.raises(psycopg.Error) as raised:
            db.execute("select * from ragpg.cypher('MATCH (n) RETURN n', namespace => %s)", [name])
    hint = raised.value.diag.message_hint
    assert hint is not None
    assert hint.endswith("or ragpg graph sync -n NAMESPACE.")
    assert "ragpg.sync_cypher_graph('x''; echo $(id) #')" in hint


def test_a_limited_client_reaches_the_graph_of_no_other_namespace(database: str) -> None:
    with ragpg.connect(database, embedder=None) as rag:
        for name in ("red", "blue"):
            rag.ingest(texts=[(f"{name}.md", "text")], namespace=name)
        limited = rag.limited_to(["red"])
        query = "MATCH (d:Document) RETURN d.source AS source"
        assert Graph(limited, "red").cypher(query) == [{"source": "red.md"}]
        for call in (lambda: Graph(limited, "blue").cypher(query), Graph(limited, "blue").sync):
            with pytest.raises(NamespaceNotFound, match="blue"):
                call()
