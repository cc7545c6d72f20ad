"""The doctor mends what it finds, and an index build leaves nothing behind."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg import doctor
from ragpg.errors import DatabaseError
from ragpg.repair import repair
from ragpg.testing import HashEmbedder
from ragpg.vector_index import build_index, index_status, memory_for

if TYPE_CHECKING:
    Database = psycopg.Connection[Any]

TEXTS = [(f"{number}.md", f"Paragraph {number} is about its number.") for number in range(6)]


def scalar(db: Database, sql: str) -> Any:
    row = db.execute(sql).fetchone()
    assert row is not None
    return row[0]


def named(database: str) -> dict[str, doctor.Check]:
    return {one.name: one for one in doctor.examine(database) if one.status != "ok"}


@pytest.mark.parametrize(
    ("damage", "name", "mended"),
    [
        ("create table ragpg.embedding_77 (a int)", "orphans",
         "select to_regclass('ragpg.embedding_77') is null"),
        ("insert into ragpg.embedding_claim values (1, 'a', now() - interval '1 day'), "
         "(99, 'b', now() + interval '1 day')", "claims",
         "select count(*) = 0 from ragpg.embedding_claim"),
        ("delete from ragpg.chunk_keyword", "keywords",
         "select count(*) = 6 from ragpg.chunk_keyword"),
        ("update ragpg.namespace set average_length = 100", "keywords",
         "select average_length < 50 from ragpg.namespace"),
        ("delete from ragpg.embedding_1 where chunk_id < 4", "vectors",
         "select count(*) = 6 from ragpg.embedding_1"),
    ],
)  # fmt: skip
def test_damage_is_found_and_mended(
    database: str, db: Database, rag: ragpg.Client, damage: str, name: str, mended: str
) -> None:
    rag.ingest(texts=TEXTS)
    assert not [one for one in named(database) if not one.startswith("extension")]
    db.execute(damage)
    assert "--" in named(database)[name].remedy
    done = repair(database, embedder=HashEmbedder(32))
    assert [one.error for one in done if one.name == name] == [None]
    assert scalar(db, mended)
    assert name not in named(database)
    assert "3" in rag.search("paragraph 3", arms=["keyword"]).hits[0].content


def test_vectors_are_left_to_an_embedder_of_their_model(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=TEXTS)
    db.execute("delete from ragpg.embedding_1")
    [without] = [one for one in repair(database) if one.name == "vectors"]
    assert "ragpg reembed --missing default" in (without.error or "")
    [other] = [one for one in repair(database, embedder=HashEmbedder(8)) if one.name == "vectors"]
    assert "the embedder is" in (other.error or "")


def fill(db: Database, rag: ragpg.Client, rows: int) -> None:
    rag.ingest(texts=TEXTS)
    db.execute(
        "alter table ragpg.embedding_1 drop constraint embedding_1_namespace_id_chunk_id_fkey"
    )
    db.execute(
        """insert into ragpg.embedding_1
           select 1, 1000 + n, (select array_agg(random()) from generate_series(1, 32 + 0 * n))
                  ::real[]::halfvec
             from generate_series(1, %s) as n""",
        [rows],
    )


def test_a_build_that_is_broken_off_leaves_no_index(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    fill(db, rag, 6000)
    faults: list[Exception] = []

    def build() -> None:
        try:
            build_index(database, 1, workers=0, ef_construction=600)
        except DatabaseError as error:
            faults.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    seen = None
    while thread.is_alive():
        found = index_status(database)[0]
        if found["state"] == "building" and (found["percent"] or 0) > 0:
            seen = found
            db.execute(
                "select pg_cancel_backend(pid) from pg_stat_progress_create_index"
                " where datname = current_database()"
            )
            break
        time.sleep(0.01)
    thread.join()
    assert seen is not None
    assert len(faults) == 1
    assert index_status(database)[0]["state"] == "none"
    assert not scalar(db, "select count(*) from pg_index where not indisvalid")


def test_an_invalid_index_is_replaced(database: str, db: Database, rag: ragpg.Client) -> None:
    fill(db, rag, 20)
    assert build_index(database, 1)
    assert not build_index(database, 1)
    db.execute("update pg_index set indisvalid = false where indexrelid = 'ragpg.embedding_1_hnsw'::regclass")  # fmt: skip
    assert index_status(database)[0]["state"] == "invalid"
    assert "indexes" in named(database)
    assert [one.error for one in repair(database) if one.name == "indexes"] == [None]
    assert index_status(database)[0]["state"] == "valid"


def test_a_role_that_owns_nothing_has_the_function_build_it(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    fill(db, rag, 20)
    db.execute("create role reembed_writer login")
    try:
        db.execute("grant usage on schema ragpg to reembed_writer")
        db.execute("grant select, insert, update, delete on all tables in schema ragpg to reembed_writer")  # fmt: skip
        db.execute("grant execute on all functions in schema ragpg to reembed_writer")
        assert build_index(psycopg.conninfo.make_conninfo(database, user="reembed_writer"), 1)
        assert index_status(database)[0]["state"] == "valid"
    finally:
        db.execute("drop owned by reembed_writer")
        db.execute("drop role reembed_writer")


def test_memory_follows_the_size_of_the_graph() -> None:
    assert 1.0e9 < memory_for(1_000_000, 384) < 1.6e9
    assert memory_for(10, 384, "vector") > memory_for(10, 384)


async def test_both_clients_mend(database: str, db: Database, rag: ragpg.Client) -> None:
    rag.ingest(texts=TEXTS)
    db.execute("delete from ragpg.chunk_keyword")
    done: list[str] = []
    found = rag.doctor(fix=True, on_repair=lambda one: done.append(f"{one.name}: {one.error}"))
    assert "keywords: None" in done
    assert "keywords" not in {one.name for one in found if one.status != "ok"}
    db.execute("delete from ragpg.embedding_1")
    assert "vectors" in {one.name for one in rag.doctor() if one.status != "ok"}
    async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as other:
        found = await other.doctor(fix=True)
    assert "vectors" not in {one.name for one in found if one.status != "ok"}
    assert scalar(db, "select count(*) from ragpg.embedding_1") == 6
