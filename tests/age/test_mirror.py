"""The graph in AGE is what the tables say, after every statement."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.testing import HashEmbedder

from . import content
from .content import cypher, differences

if TYPE_CHECKING:
    Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.extension("age")


def _texts(rng: random.Random, count: int) -> dict[str, str]:
    """Documents that link to each other; some have several chunks."""
    names = [f"{number}.md" for number in range(count)]
    return {
        name: f"# Title of {name}\n\nOrion uses Falcon {rng.random()}.\n\n"
        + " ".join(f"[see]({rng.choice(names)}#part)" for _ in range(3))
        + "\n\n## More\n\n" + "Falcon is made by Delta. " * rng.choice([1, 60, 120])
        for name in names
    }  # fmt: skip


def test_any_sequence_of_ingests_and_deletes_leaves_the_graph_of_the_tables(
    rag: ragpg.Client, db: Connection
) -> None:
    rng = random.Random(4)
    for step in range(8):
        texts = _texts(rng, 8)
        chosen = rng.sample(sorted(texts), rng.randrange(1, 8))
        if step % 3 == 2:
            rag.delete(chosen)
        else:
            rag.ingest(texts={name: texts[name] for name in chosen}.items())
        assert differences(db) == {}, f"step {step}"
    documents = {row["s"] for row in cypher(db, "MATCH (d:Document) RETURN d.source AS s")}
    stored = {row[0] for row in db.execute("select source from ragpg.document").fetchall()}
    assert documents == stored != set()
    chunks = db.execute("select count(*) from ragpg.chunk").fetchone()
    [found] = cypher(db, "MATCH (c:Chunk)-[:PART_OF]->(d:Document) RETURN count(*) AS n")
    assert chunks == (found["n"],)


@pytest.mark.smoke
def test_every_kind_of_row_is_there_and_goes(rag: ragpg.Client, db: Connection) -> None:
    owner = content.namespace(db)
    a, b = content.document(db, owner, "a.md", "Alpha"), content.document(db, owner, "b.md")
    content.chunk(db, owner, a, 1)
    orion, falcon = content.entity(db, owner, "Orion"), content.entity(db, owner, "Falcon")
    content.mention(db, owner, a, orion)
    content.mention(db, owner, a, falcon)
    content.relation(db, owner, a, orion, "uses", falcon)
    content.link(db, owner, a, b)
    content.communities(db, owner, {"first": [a], "second": [b]})
    db.execute(
        "insert into ragpg.topic (namespace_id, document_id, entity_id) values (%s, %s, %s)",
        [owner, b, falcon],
    )
    db.execute(
        "insert into ragpg.edge (namespace_id, source, target, kind, weight)"
        " values (%s, %s, %s, 'terms', 2)",
        [owner, a, b],
    )
    db.execute(
        "insert into ragpg.entity_rank (namespace_id, entity_id, pagerank, community_id)"
        " select namespace_id, %s, 0.5, id from ragpg.community order by id limit 1",
        [orion],
    )
    labels = {
        row["l"]: row["n"]
        for row in cypher(db, "MATCH (a)-[r]->(b) RETURN label(r) AS l, count(*) AS n")
    }
    assert labels.pop("MENTIONS") >= 2
    assert labels.pop("ABOUT") >= 1
    assert labels == {
        "PART_OF": 3, "NEXT": 1, "LINKS": 1, "RELATED": 1, "SHARES": 1, "IN_COMMUNITY": 3,
    }  # fmt: skip
    [row] = cypher(
        db,
        "MATCH (d:Document)-[m:IN_COMMUNITY]->(c:Community) WHERE d.source = $s"
        " RETURN c.name AS name, m.pagerank AS rank",
        s="a.md",
    )
    assert (row["name"], round(row["rank"], 3)) == ("first", 0.1)
    assert differences(db) == {}

    # Updates in place, also to and from a link that leads nowhere.
    db.execute(
        "update ragpg.document set title = 'Beta', metadata = '{\"n\": 1}' where id = %s", [b]
    )
    db.execute("update ragpg.link set target_id = null, matches = 0")
    assert cypher(db, "MATCH ()-[l:LINKS]->() RETURN l") == []
    [row] = cypher(
        db, "MATCH (d:Document) WHERE d.id = $id RETURN d.title AS t, d.metadata AS m", id=b
    )
    assert row == {"t": "Beta", "m": {"n": 1}}
    assert differences(db) == {}

    rag.delete(["a.md", "b.md"])
    assert cypher(db, "MATCH (d:Document)-[r]->(m) RETURN r") == []
    assert cypher(db, "MATCH (c:Chunk)-[r]->(m) RETURN r") == []
    assert differences(db) == {}
    assert rag.drop_namespace("default")
    left = "select nspname from pg_namespace where nspname like 'ragpg%%' and nspname <> 'ragpg'"
    assert db.execute(left).fetchall() == []


def test_ids_are_the_same_in_every_graph_of_the_tables(rag: ragpg.Client, db: Connection) -> None:
    rag.ingest(texts=_texts(random.Random(1), 4).items())
    everything = "MATCH (n) RETURN id(n) AS i, label(n) AS l, n.id AS key"
    before = sorted(map(str, cypher(db, everything)))
    db.execute("select ragpg.drop_cypher_graphs()")
    assert differences(db)["Document"] == (4, 0)
    assert sorted(map(str, cypher(db, everything))) == before
    for row in cypher(db, everything):
        assert row["i"] & (2**48 - 1) == row["key"]


def test_a_rolled_back_ingest_is_in_no_graph(database: str, db: Connection) -> None:
    with psycopg.connect(database) as connection:
        with ragpg.connect(connection, embedder=HashEmbedder(8)) as rag:
            rag.ingest(texts=[("kept.md", "kept")])
            with connection.transaction(force_rollback=True):
                rag.ingest(texts=[("lost.md", "lost")])
                # Inside the transaction it is there, before any commit.
                assert len(cypher(connection, "MATCH (d:Document) RETURN d.source")) == 2
            assert len(cypher(connection, "MATCH (d:Document) RETURN d.source")) == 1
        connection.commit()
    assert cypher(db, "MATCH (d:Document) RETURN d.source AS s") == [{"s": "kept.md"}]


def test_the_mode_decides_when_the_graph_is_written(rag: ragpg.Client, db: Connection) -> None:
    rag.create_namespace("default")
    db.execute("select ragpg.set_cypher_mode('default', 'manual')")
    rag.ingest(texts=[("a.md", "text")])
    assert cypher(db, "MATCH (d:Document) RETURN d") == []
    assert differences(db)["Document"] == (1, 0)
    db.execute("select ragpg.set_cypher_mode('default', 'transaction')")
    rag.ingest(texts=[("b.md", "text")])
    assert len(cypher(db, "MATCH (d:Document) RETURN d")) == 2
    db.execute("select ragpg.set_cypher_mode('default', 'off')")
    with pytest.raises(psycopg.Error, match="no graph for Cypher"):
        cypher(db, "MATCH (d:Document) RETURN d")
    with pytest.raises(psycopg.Error, match="off for namespace"):
        differences(db)
    rag.ingest(texts=[("c.md", "text")])
    with pytest.raises(psycopg.Error, match="mode"):
        db.execute("select ragpg.set_cypher_mode('default', 'sometimes')")


def test_numbers_that_agtype_lacks_do_not_stop_an_ingest(rag: ragpg.Client, db: Connection) -> None:
    long = 10**30
    rag.ingest(texts=[("a.md", "text")], metadata={"year": 2024, "code": "12345678901234567890"})
    rag.ingest(texts=[("b.md", "text")], metadata={"huge": long, "small": 0.5})
    rows = cypher(db, "MATCH (d:Document) RETURN d.source AS s, d.metadata AS m ORDER BY d.source")
    assert rows[0]["m"] == {"year": 2024, "code": "12345678901234567890"}
    assert str(long) in rows[1]["m"]
    assert differences(db) == {}


def test_a_graph_that_cannot_be_written_does_not_stop_an_ingest(
    rag: ragpg.Client, db: Connection
) -> None:
    rag.ingest(texts=[("a.md", "text")])
    graph = db.execute("select ragpg.cypher_graph_name(id) from ragpg.namespace").fetchone()
    assert graph
    db.execute(f'alter table {graph[0]}."Document" add check (false) not valid'.encode())
    report = rag.ingest(texts=[("b.md", "text")])
    assert [file.status for file in report.files] == ["stored"]
    db.execute(f'alter table {graph[0]}."Document" drop constraint "Document_check"'.encode())
    assert differences(db)["Document"] == (1, 0)
    assert len(cypher(db, "MATCH (d:Document) RETURN d")) == 2


@pytest.mark.case("GR-05")
def test_eight_at_once_make_one_graph_gr_05(database: str, db: Connection) -> None:
    def first(number: int) -> None:
        with ragpg.connect(database, embedder=None) as rag:
            rag.ingest(texts=[(f"{number}.md", f"Text of {number}.")], namespace="shared")
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("select ragpg.sync_cypher_graph('shared')")
            owner = content.namespace(connection, "shared")
            [[paper]] = connection.execute(
                "select id from ragpg.document where source = %s", [f"{number}.md"]
            ).fetchall()
            content.mention(
                connection, owner, paper, content.entity(connection, owner, f"Entity {number}")
            )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(first, range(8)))
    assert differences(db, "shared") == {}
    [row] = cypher(
        db, "MATCH (:Chunk)-[m:MENTIONS]->(e:Entity) RETURN count(*) AS n", namespace="shared"
    )
    assert row["n"] >= 8
    graphs = db.execute("select count(*) from ag_catalog.ag_graph").fetchone()
    labels = db.execute(
        "select count(*), count(distinct name) from ag_catalog.ag_label where name = 'MENTIONS'"
    ).fetchone()
    assert (graphs, labels) == ((1,), (1, 1))


@pytest.mark.case("GR-04")
def test_what_a_deleted_document_said_is_gone_gr_04(rag: ragpg.Client, db: Connection) -> None:
    owner = content.namespace(db)
    d1, d2 = content.document(db, owner, "d1"), content.document(db, owner, "d2")
    orion, falcon, delta = (
        content.entity(db, owner, name) for name in ("Orion", "Falcon", "Delta")
    )
    for paper, named in ((d1, orion), (d1, falcon), (d2, falcon), (d2, delta)):
        content.mention(db, owner, paper, named, f"said in {paper}")
    content.relation(db, owner, d1, orion, "uses", falcon)
    content.relation(db, owner, d2, falcon, "made by", delta)
    rag.delete(["d1"])
    names = {row["n"] for row in cypher(db, "MATCH (:Chunk)-[:MENTIONS]->(e) RETURN e.name AS n")}
    assert names == {"Falcon", "Delta"}
    kinds = [row["k"] for row in cypher(db, "MATCH ()-[r:RELATED]->() RETURN r.kind AS k")]
    assert kinds == ["made by"]
    said = cypher(db, "MATCH ()-[m:MENTIONS]->(e {name: 'Falcon'}) RETURN m.description AS d")
    assert said == [{"d": f"said in {d2}"}]
    # The graph and the tables agree, and no edge lacks an end.
    assert differences(db) == {}
    edges = db.execute("select count(*) from ragpg.mention").fetchone()
    [row] = cypher(db, "MATCH (a)-[m:MENTIONS]->(b) RETURN count(*) AS n")
    assert edges == (row["n"],)
