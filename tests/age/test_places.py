"""AGE comes, goes, is dumped and restored, and belongs to somebody else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import ragpg
from ragpg import localdb, migrate
from tests.engine.test_catalog import examples

from .content import cypher, differences

if TYPE_CHECKING:
    Connection = psycopg.Connection[Any]

pytestmark = pytest.mark.extension("age")

TEXTS = [("a.md", "# A\n\nSee [b](b.md)."), ("b.md", "# B\n\nSee [a](a.md).")]
EVERYTHING = "MATCH (c:Chunk)-[r:PART_OF]->(d:Document) RETURN c, r, d ORDER BY d.id, c.id"
#: What a migration makes, of every kind that a person could notice.
CODE = """
select oid::regprocedure::text, pg_get_functiondef(oid), obj_description(oid)
  from pg_proc where pronamespace = 'ragpg'::regnamespace
union all
select tgrelid::regclass::text || tgname, pg_get_triggerdef(oid), null
  from pg_trigger where not tgisinternal order by 1
"""


def _run(dsn: str, *statements: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@pytest.mark.smoke
def test_age_may_come_and_go(empty_database: str) -> None:
    migrate.upgrade(empty_database)
    with ragpg.connect(empty_database, embedder=None) as rag:
        rag.ingest(texts=TEXTS)
        assert migrate.status(empty_database).is_current
        _run(empty_database, "create extension age")
        # The client goes on; the migration has something to do.
        assert not migrate.status(empty_database).is_current
        rag.ingest(texts=[("c.md", "text")])
        migrate.upgrade(empty_database)
        assert migrate.status(empty_database).is_current
        with psycopg.connect(empty_database, autocommit=True) as db:
            with pytest.raises(psycopg.Error, match="no graph for Cypher"):
                cypher(db, EVERYTHING)
            assert differences(db)["Document"] == (3, 0)
            rag.ingest(texts=[("d.md", "text")])
            assert len(cypher(db, "MATCH (d:Document) RETURN d.source")) == 4

        # It takes the columns of the graphs along, and everything but Cypher goes on.
        _run(empty_database, "drop extension age cascade")
    # AGE's hooks fail in the sessions that have its library, so those end.
    with ragpg.connect(empty_database, embedder=None) as rag:
        assert not migrate.status(empty_database).is_current
        rag.ingest(texts=[("e.md", "text")])
        rag.create_namespace("another")
        assert rag.drop_namespace("another")
        assert rag.search("text", arms=["keyword"]).hits
        migrate.upgrade(empty_database)
        assert migrate.status(empty_database).is_current
        rag.ingest(texts=[("f.md", "text")])
        left = _run(
            empty_database,
            "select proname from pg_proc where pronamespace = 'ragpg'::regnamespace"
            " and proname ~ 'cypher|mirror|follow_namespace'",
        )
        assert left == []
        assert (
            _run(
                empty_database, "select nspname from pg_namespace where nspname like 'ragpg_graph%'"
            )
            == []
        )
        _run(empty_database, "create extension age")
        migrate.upgrade(empty_database)
        with psycopg.connect(empty_database, autocommit=True) as db:
            assert differences(db)["Document"] == (6, 0)

        # Gone and back before anybody migrated: what is left of the graph is made anew.
        _run(empty_database, "drop extension age cascade", "create extension age")
        with psycopg.connect(empty_database, autocommit=True) as db:
            assert differences(db)["Document"] == (6, 0)
            assert len(cypher(db, EVERYTHING)) == 6


def test_the_printed_script_makes_the_same(database: str, empty_database: str) -> None:
    _run(empty_database, "create extension age")
    with psycopg.connect(empty_database, autocommit=True) as connection:
        # Only the simple protocol takes several statements.
        connection.pgconn.exec_(migrate.script().encode())
    assert _run(empty_database, CODE) == _run(database, CODE)
    assert migrate.status(empty_database).is_current


def test_nothing_of_ours_is_left_when_we_go(database: str) -> None:
    with ragpg.connect(database, embedder=None) as rag:
        rag.ingest(texts=TEXTS)
    migrate.downgrade(database)
    assert _run(database, "select nspname from pg_namespace where nspname like 'ragpg%'") == []
    assert _run(database, "select count(*) from ag_catalog.ag_graph") == [(0,)]
    migrate.upgrade(database)


def test_another_schema_has_graphs_of_its_own(database: str) -> None:
    migrate.upgrade(database, schema="kb")
    for schema in ("ragpg", "kb"):
        with ragpg.connect(database, embedder=None, schema=schema) as rag:
            rag.ingest(texts=TEXTS if schema == "kb" else TEXTS[:1])
    found = _run(database, "select * from kb.cypher('MATCH (d:Document) RETURN d.source AS s')")
    assert sorted(row[0]["s"] for row in found) == ["a.md", "b.md"]
    assert _run(database, "select name from ag_catalog.ag_graph order by 1") == [
        ("kb_graph_1",), ("ragpg_graph_1",),
    ]  # fmt: skip
    migrate.downgrade(database, schema="kb")
    assert _run(database, "select name from ag_catalog.ag_graph") == [("ragpg_graph_1",)]


def test_no_superuser_is_needed(age_server: str, empty_database: str, role: str) -> None:
    name = conninfo_to_dict(empty_database)["dbname"]
    _run(
        empty_database,
        "create extension age", "create extension vector", "create extension btree_gin",
        f"grant create on database {name} to {role}",
    )  # fmt: skip
    owner = make_conninfo(empty_database, user=role)
    migrate.upgrade(owner)
    assert migrate.status(owner).is_current
    with ragpg.connect(owner, embedder=None) as rag:
        rag.ingest(texts=TEXTS)
    _run(empty_database, f"grant usage on schema ag_catalog to {role}")
    assert not migrate.status(owner).is_current
    migrate.upgrade(owner)
    with psycopg.connect(owner, autocommit=True) as db, ragpg.connect(owner, embedder=None) as rag:
        assert differences(db)["Document"] == (2, 0)
        rag.ingest(texts=[("c.md", "text")])
        assert len(cypher(db, EVERYTHING)) == 3
        # Without the right to create schemas a namespace is made all the same, without its graph.
        _run(empty_database, f"revoke create on database {name} from {role}")
        rag.ingest(texts=TEXTS, namespace="second")
        with pytest.raises(psycopg.Error, match="no graph for Cypher"):
            cypher(db, EVERYTHING, namespace="second")
        assert rag.drop_namespace("default")


def test_a_restored_dump_is_made_whole_by_a_sync(
    age_server: str, database: str, empty_database: str, tmp_path: Path
) -> None:
    with ragpg.connect(database, embedder=None) as rag:
        rag.ingest(texts=TEXTS)
    with psycopg.connect(database, autocommit=True) as db:
        before = cypher(db, EVERYTHING)
    programs = Path(_psql()).parent
    place = {key: str(value) for key, value in conninfo_to_dict(age_server).items()}
    environment = os.environ | {
        "PGHOST": place["host"], "PGPORT": place.get("port", "5432"), "PGUSER": "postgres",
    }  # fmt: skip
    source, target = (str(conninfo_to_dict(one)["dbname"]) for one in (database, empty_database))
    file = str(tmp_path / "dump")
    for command in (
        [str(programs / "pg_dump"), "-Fc", "-f", file, source],
        [str(programs / "pg_restore"), "-e", "-d", target, file],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    with psycopg.connect(empty_database, autocommit=True) as db:
        # AGE writes graphs down by oid: said, not run into.
        with pytest.raises(psycopg.Error, match="restored from a dump"):
            cypher(db, EVERYTHING)
        with ragpg.connect(empty_database, embedder=None) as rag:
            rag.ingest(texts=[("c.md", "text")])
            assert differences(db)["Document"] == (3, 0)
            assert cypher(db, EVERYTHING)[: len(before)] == before
            assert differences(db) == {}
            assert rag.drop_namespace("default")


def test_every_function_has_a_comment_and_an_example_that_runs(database: str) -> None:
    with ragpg.connect(database, embedder=None) as rag:
        rag.ingest(texts=[("refund.md", "Refunds take 14 days.")])
    folder = Path(__file__).parents[2] / "sql" / "age"
    names = {path.stem for path in folder.glob("*.sql")} - {"privileges"}
    with psycopg.connect(database) as db:
        rows = db.execute(
            "select proname, coalesce(obj_description(oid, 'pg_proc'), '') from pg_proc"
            " where pronamespace = 'ragpg'::regnamespace and proname = any (%s)",
            [sorted(names)],
        ).fetchall()
        assert {name for name, _ in rows} == names
        for name, comment in rows:
            statements = examples(comment)
            assert statements, name
            for statement in statements:
                with db.transaction(force_rollback=True):
                    db.execute(statement.encode())


def _psql() -> str:
    return localdb.psql_command()[0][0]
