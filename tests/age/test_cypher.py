"""What ragpg.cypher() answers, refuses and hides."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.integration.pooler import Pooler

from . import content
from .content import cypher

if TYPE_CHECKING:
    from collections.abc import Iterator

    import ragpg

    Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.extension("age")


@pytest.fixture
def small(db: Connection) -> Connection:
    """Three documents in a circle, two entities."""
    owner = content.namespace(db)
    papers = [content.document(db, owner, f"{name}.md", f"Title {name}") for name in "abc"]
    for one, other in zip(papers, papers[1:] + papers[:1], strict=True):
        content.link(db, owner, one, other)
    for name in ("Orion", "Falcon"):
        content.mention(db, owner, papers[0], content.entity(db, owner, name))
    return db


@pytest.mark.smoke
def test_rows_are_json_objects_by_column(small: Connection) -> None:
    rows = cypher(
        small,
        """
        // who links to b?
        MATCH (d:Document)-[l:LINKS]->(e:Document)  /* one hop */
        WHERE e.source = $source
        RETURN DISTINCT d.source, e AS target, count(*) AS `how many`, [1, 2.5, null, 'x'] AS list,
               {a: {b: true}} AS map, "q\\"uote" AS text
        """,
        source="b.md",
    )
    [row] = rows
    assert row["d.source"] == "a.md"
    assert row["target"]["label"] == "Document"
    assert row["target"]["properties"]["title"] == "Title b"
    assert row["how many"] == 1
    assert row["list"] == [1, 2.5, None, "x"]
    assert row["map"] == {"a": {"b": True}}
    assert row["text"] == 'q"uote'
    [row] = cypher(
        small, "MATCH p=(a:Document)-[:LINKS*1..2]->(c {source: 'c.md'}) RETURN p LIMIT 1"
    )
    assert [part["label"] for part in row["p"]][:3] == ["Document", "LINKS", "Document"]
    assert cypher(small, "MATCH (n:Nobody) RETURN n") == []
    both = cypher(small, "RETURN 1 AS a UNION RETURN 2 AS a")
    assert sorted(row["a"] for row in both) == [1, 2]


def test_values_that_look_like_marks_of_agtype_stay_as_they_are(small: Connection) -> None:
    values = ["a::vertex", 'x"::edge', "\\::path", "NaN", "-Infinity", "1::numeric", "$cypher_$"]
    [row] = cypher(small, "MATCH (d:Document {source: 'a.md'}) RETURN $v AS v, d", v=values)
    assert row["v"] == values


#: What must be refused, and a part of the reason. The last ones end a server process of AGE.
REFUSED = {
    "CREATE (n:Document) RETURN n": "read only",
    "MATCH (n) SET n.title = 'x' RETURN n": "read only",
    "MATCH (n) DETACH DELETE n": "read only",
    "MATCH (n) REMOVE n.title RETURN n": "read only",
    "MERGE (n:Document {id: 1}) RETURN n": "read only",
    "MATCH (n) RETURN n /* \n */ CREATE (m) RETURN m": "read only",
    "MATCH (n) /*/ CREATE (m) /*/ RETURN n; CREATE (m)": "not understood|read only",
    "MATCH (n) `CREATE` (m) RETURN n": "read only",
    "CALL pg_catalog.version()": "read only",
    "EXPLAIN MATCH (n) RETURN n": "read only",
    "LOAD CSV FROM 'x' AS r RETURN r": "read only",
    "RETURN pg_catalog.version()": "function",
    "RETURN ag_catalog . pg_read_file('x')": "function",
    "RETURN `create_graph`('x')": "function",
    "RETURN vertex_stats(1)": "function",
    "RETURN shortest_path('other', 1, 2)": "function",
    "MATCH (n) RETURN vle(n)": "function",
    "RETURN startnode('ragpg_graph_2', 1)": "function",
    "RETURN drop_graph('ragpg_graph_1', true)": "function",
    "RETURN '1'::vertex": "cast",
    "RETURN 1::pg_text": "cast",
    "MATCH (n)": "RETURN",
    "MATCH (n) RETURN *": "RETURN must name",
    "MATCH (n) RETURN n, n": "two columns",
    "": "no RETURN",
    "RETURN 1)": "bracket",
    "RETURN " + "[" * 60 + "]" * 60: "too deep",
    "RETURN '" + "x" * 20_000 + "'": "longer",
    "MATCH (a)-[*]->(b) RETURN b": "upper bound",
    "MATCH (a)-[:LINKS*2..]->(b) RETURN b": "upper bound",
    "MATCH (a)-[r:LINKS|SHARES*1..9]-(b) RETURN b": "upper bound",
    "MATCH (a)-[:LINKS*1..$n]->(b) RETURN b": "upper bound",
    "MATCH (a) WHERE id(a) IN $ids RETURN a": "IN together with id",
    "WITH $ids AS l MATCH (a) WHERE id(a) IN l RETURN a": "IN together with id",
    "MATCH (a) WITH id(a) AS i WHERE i IN $ids RETURN i": "IN together with id",
    "MATCH ()-[r]->() WHERE start_id(r) IN $ids RETURN r": "IN together with id",
    "MATCH (a) RETURN {k: 1}[a] AS x": "index",
    "MATCH (a) RETURN [1][id(a)] AS x": "index",
    "RETURN $ids[[]..$m] AS x": "index",
    "MATCH (a) WHERE $m CONTAINS a RETURN a": "texts",
    "MATCH (a) WITH a AS b WHERE 'x' STARTS WITH b RETURN b": "texts",
    "MATCH (a) WHERE id(a) =~ 'x' RETURN a": "texts",
    "MATCH (a) WHERE exists((a)-[*1..2]->(a)) RETURN a": "EXISTS",
    "MATCH (a) WHERE exists((a)<-[{w: a.id}]-()) RETURN a": "EXISTS",
    "UNWIND ($p IN []) AS v RETURN v": "UNWIND|IN \\[\\]",
    "MATCH (a) WHERE a.id IN [] RETURN a": "IN \\[\\]",
}


def test_what_writes_reaches_out_or_crashes_is_refused(small: Connection) -> None:
    before = small.execute("select pg_postmaster_start_time()").fetchone()
    for query, reason in REFUSED.items():
        with pytest.raises(psycopg.Error, match=reason) as error:
            cypher(small, query, ids=[1], m={}, n=3, p=1)
        assert error.value.sqlstate == "RG006", query
    assert small.execute("select pg_postmaster_start_time()").fetchone() == before
    assert content.differences(small) == {}


def test_what_reads_runs(small: Connection) -> None:
    for query in (
        "UNWIND $ids AS i MATCH (a) WHERE id(a) = i RETURN a",
        "MATCH (a:Entity) WHERE a.name IN $names RETURN a",
        "MATCH (a:Document) WITH a.title AS t WHERE t CONTAINS 'b' RETURN t",
        "MATCH (a:Document) WHERE toLower(a.title) STARTS WITH $text RETURN a",
        "MATCH p=(a)-[:LINKS]->(b) UNWIND nodes(p) AS n RETURN n.source",
        "MATCH (a:Document) RETURN collect({title: a.title}) AS titles",
        "MATCH (a) WHERE exists((a)-[:LINKS]->()) RETURN count(*)",
        "MATCH (a:Document) WHERE a.metadata.year > 2000 OR a.metadata['year'] IS NULL RETURN a.id",
        "MATCH (a)-[r]->(b) RETURN label(a), type(r), startNode(r), id(b) ORDER BY id(b) LIMIT 3",
        "MATCH (a:Document {source: $text}) OPTIONAL MATCH (a)-[:LINKS]->(b) RETURN b.title AS `a b`",
    ):
        cypher(small, query, ids=[1, 2], names=["Orion"], text="title")


def test_a_write_that_gets_through_is_undone(small: Connection) -> None:
    # As if a new version of AGE had a clause that the check does not know.
    small.execute(
        "create or replace function ragpg.cypher_check(tokens text[], kinds text[]) returns boolean"
        " language sql immutable as 'select false'"
    )
    for query in (
        "CREATE (n:Community {id: 1, name: 'mine'}) RETURN n",
        "MATCH (n:Document) SET n.title = 'mine' RETURN n",
        "MATCH (n:Entity) DETACH DELETE n RETURN 1",
    ):
        with pytest.raises(psycopg.Error, match="changed the graph"):
            cypher(small, query)
    assert content.differences(small) == {}


def test_a_query_ends_at_its_time_limit(small: Connection, database: str) -> None:
    endless = (
        "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i), (j), (k), (l), (m) RETURN count(*) AS n"
    )
    small.execute("set statement_timeout = '300ms'")
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        cypher(small, endless)
    small.execute("set statement_timeout = 0")
    # Without a limit of the statement, the connection ends; the server and others do not.
    careless = psycopg.connect(database, autocommit=True)
    with pytest.raises(psycopg.errors.TransactionTimeout):
        careless.execute("select * from ragpg.cypher(%s, timeout_ms => 300)", [endless])
    careless.close()
    assert time.monotonic() - started < 60
    # The limit ends with the call, also inside a transaction.
    with small.transaction():
        small.execute("select * from ragpg.cypher('RETURN 1', timeout_ms => 200)")
        small.execute("select pg_sleep(0.4)")
        assert cypher(small, "RETURN 1 AS a") == [{"a": 1}]


@pytest.fixture
def reader(database: str, small: Connection) -> Iterator[Connection]:
    """A connection of a role that may use ragpg and has no right on AGE."""
    name = f"reader_{small.info.dbname[-8:]}"
    small.execute(f"create role {name} login".encode())
    small.execute(f"grant usage on schema ragpg to {name}".encode())
    small.execute(f"grant select on ragpg.namespace to {name}".encode())
    with psycopg.connect(make_conninfo(database, user=name), autocommit=True) as connection:
        yield connection
    small.execute(f"drop owned by {name}".encode())
    small.execute(f"drop role {name}".encode())


def test_tenants_are_kept_apart_by_the_database(small: Connection, reader: Connection) -> None:
    other = content.namespace(small, "secret")
    content.document(small, other, "secret.md")
    name = reader.info.user
    small.execute("select ragpg.grant_namespace('secret', current_user)")
    assert len(cypher(reader, "MATCH (n:Document) RETURN n")) == 3
    with pytest.raises(psycopg.Error, match="does not exist"):
        cypher(reader, "MATCH (n) RETURN n", namespace="secret")
    # Nothing but the function leads into any graph.
    for statement in (
        "select '0'::ag_catalog.agtype",
        "select * from ag_catalog.cypher('ragpg_graph_1', $$ MATCH (n) RETURN n $$) as (n text)",
        "select * from ag_catalog.age_vle('1', '1', '1', '1', '1', '1', '1')",
        'select * from ragpg_graph_1."Document"',
        "select ragpg.make_cypher_graph(1)",
        "select ragpg.remove_cypher_graph(1)",
        "select ragpg.drop_cypher_graph('default')",
        "select * from ragpg.sync_cypher_graph('default')",
        "select * from ragpg.cypher_status()",
    ):
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction)
        ):
            reader.execute(statement.encode())
    # The role of the session counts, not the rights of the function's owner.
    small.execute(f"set role {name}".encode())
    with pytest.raises(psycopg.Error, match="does not exist"):
        cypher(small, "MATCH (n) RETURN n", namespace="secret")
    small.execute("reset role")
    assert len(cypher(small, "MATCH (d:Document) RETURN d", namespace="secret")) == 1
    # An application that serves all through one role narrows itself.
    with small.transaction():
        small.execute("set local ragpg.allowed_namespaces = '{default}'")
        with pytest.raises(psycopg.Error, match="does not exist"), small.transaction():
            cypher(small, "MATCH (n) RETURN n", namespace="secret")
    # Paths of variable length, which read past policies in AGE, see their own graph alone.
    rows = cypher(reader, "MATCH (a)-[*1..3]-(b) RETURN DISTINCT b.source AS s")
    assert "secret.md" not in {row["s"] for row in rows}


@pytest.mark.case("GR-03")
def test_any_connection_can_ask_first_thing_gr_03(database: str, small: Connection) -> None:
    query = "MATCH (d:Document) RETURN count(*) AS n"

    def ask(dsn: str) -> list[dict[str, Any]]:
        with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as connection:
            before = connection.execute("show search_path").fetchone()
            first = cypher(connection, query)
            connection.execute("discard all")
            again = cypher(connection, query)
            assert connection.execute("show search_path").fetchone() == before
            return first + again

    assert ask(database) == [{"n": 3}] * 2
    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(ask, [database] * 20)) == [[{"n": 3}] * 2] * 20
    with Pooler(database, size=2) as pooler:

        def through(_: int) -> list[dict[str, Any]]:
            with psycopg.connect(pooler.dsn, autocommit=True, prepare_threshold=None) as connection:
                return cypher(connection, query) + cypher(connection, query)

        with ThreadPoolExecutor(5) as pool:
            assert list(pool.map(through, range(10))) == [[{"n": 3}] * 2] * 10


def test_the_owner_has_plain_cypher_in_psql(small: Connection) -> None:
    small.execute("set search_path = public, ag_catalog")
    small.execute("select '0'::agtype")
    rows = small.execute(
        "select * from cypher('ragpg_graph_1', $$ MATCH (d:Document) RETURN d.source $$)"
        " as (source text) order by 1"
    ).fetchall()
    assert rows == [("a.md",), ("b.md",), ("c.md",)]


def test_names_and_parameters_are_checked(small: Connection, rag: ragpg.Client) -> None:
    for params in ("[]", "null", "3"):
        with pytest.raises(psycopg.Error, match="object"):
            small.execute("select * from ragpg.cypher('RETURN 1', %s)", [params])
    with pytest.raises(psycopg.Error, match="does not exist"):
        cypher(small, "RETURN 1", namespace="nobody")
    with pytest.raises(psycopg.Error, match=r"\$missing has no value"):
        cypher(small, "RETURN $missing AS x, $given AS y", given=1)
    assert json.loads(json.dumps(cypher(small, "RETURN $a AS x", a=[])))[0]["x"] == []
    assert cypher(small, "MATCH (e:Entity) WHERE e.name IN $l RETURN e", l=[]) == []
