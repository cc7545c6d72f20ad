"""The vector index during an ingest: live, after, or as auto decides; found the same either way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.errors import ConfigError, DatabaseError
from ragpg.ingest import indexing
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.repair import repair
from ragpg.testing import HashEmbedder
from ragpg.vector_index import IndexProgress, build_index, drop_index, is_pooled

from .pooler import Pooler

if TYPE_CHECKING:
    from ragpg.types import FileReport

    Database = psycopg.Connection[Any]


def texts(count: int, first: int = 0) -> list[tuple[str, str]]:
    return [(f"{n}.md", f"Paragraph {n} is about its number.") for n in range(first, first + count)]


def indexes(db: Database, space_id: int = 1) -> list[str]:
    rows = db.execute(
        "select indexrelid::regclass::text from pg_index join pg_class on pg_class.oid = indexrelid"
        " join pg_am on pg_am.oid = relam where amname = 'hnsw' and indisvalid"
        " and indrelid = to_regclass(%s)",
        [f"ragpg.embedding_{space_id}"],
    ).fetchall()
    return [name for (name,) in rows]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty vectors are many."""
    monkeypatch.setattr(indexing, "INDEX_FROM", 20)


def test_live_builds_first_and_after_builds_last(
    db: Database, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "INDEX_FROM", 20)
    seen: list[tuple[str, int]] = []

    def note(file: FileReport) -> None:
        seen.append((file.source, len(indexes(db))))

    rag.ingest(texts=texts(5), index="live", on_file=note)
    assert {count for _, count in seen} == {1}
    seen.clear()
    report = rag.ingest(texts=texts(100, 5), index="after", on_file=note)
    assert {count for _, count in seen} == {0}
    assert len(indexes(db)) == 1
    assert any("built the vector index" in note for note in report.notes)
    # Nothing to write, nothing dropped.
    assert rag.ingest(texts=texts(100, 5), index="after").notes == []


@pytest.mark.usefixtures("_small")
def test_auto_builds_after_a_first_load_and_searches_meanwhile(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    modes: set[str | None] = set()
    with ragpg.connect(database, embedder=HashEmbedder(32)) as other:

        def look(file: FileReport) -> None:
            number = int(file.source.removesuffix(".md"))
            if number % 30:
                return
            text = f"Paragraph {number} is about its number."
            found = other.search(text, arms=["vector"], k=1, rerank=False)
            modes.add(found.report["vector"].mode)
            assert found.hits[0].arms["vector"].score > 0.9

        report = rag.ingest(texts=texts(150), on_file=look)
    assert report.ok
    assert modes == {"exact"}
    assert len(indexes(db)) == 1
    # What comes later goes into the live index.
    assert rag.ingest(texts=texts(10, 150)).notes == []


@pytest.mark.usefixtures("_small")
def test_auto_drops_the_index_of_a_small_space_for_a_large_load(
    db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=texts(30))
    [before] = indexes(db)
    oid = db.execute("select %s::regclass::oid", [before]).fetchone()
    # The same folder read again brings nothing like twice as many.
    rag.ingest(texts=texts(30) + texts(20, 30))
    assert db.execute("select %s::regclass::oid", [before]).fetchone() == oid
    report = rag.ingest(texts=texts(300, 100))
    assert any("built the vector index" in note for note in report.notes)
    assert len(indexes(db)) == 1
    assert db.execute("select %s::regclass::oid", [before]).fetchone() != oid
    found = rag.search("Paragraph 399 is about its number.", arms=["vector"], k=1)
    assert found.hits[0].source == "399.md"


@pytest.mark.usefixtures("_small")
def test_auto_leaves_the_index_to_other_namespaces(db: Database, rag: ragpg.Client) -> None:
    rag.ingest(texts=texts(30), namespace="others")
    [before] = indexes(db)
    oid = db.execute("select %s::regclass::oid", [before]).fetchone()
    rag.ingest(texts=texts(200), namespace="mine")
    assert db.execute("select %s::regclass::oid", [before]).fetchone() == oid


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("by", ["ingest", "doctor"])
def test_an_interrupted_load_is_finished(
    database: str, db: Database, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr("ragpg.faults.INDEX_FROM", 20)
    rag.ingest(texts=texts(30))

    def interrupt(file: FileReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rag.ingest(texts=texts(300, 100), index="after", on_file=interrupt)
    assert indexes(db) == []
    if by == "ingest":
        rag.ingest(texts=texts(30))
    else:
        assert [one.error for one in repair(database) if one.name == "indexes"] == [None]
    assert len(indexes(db)) == 1


@pytest.mark.usefixtures("_small")
def test_an_index_that_cannot_be_built_fails_no_document(
    rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: Any, **options: Any) -> bool:
        raise DatabaseError("no room left on the device")

    monkeypatch.setattr("ragpg.vector_index.build_index", fails)
    report = rag.ingest(texts=texts(30))
    assert report.ok
    assert any("no room left" in note and "doctor --fix" in note for note in report.notes)


@pytest.mark.usefixtures("_small")
def test_on_a_callers_connection_the_index_is_part_of_its_transaction(
    database: str, db: Database
) -> None:
    with psycopg.connect(database) as mine:
        rag = ragpg.connect(mine, embedder=HashEmbedder(32))
        rag.ingest(texts=texts(30))
        kept = rag.ingest(texts=texts(60, 30), index="after")
        assert any("the vector index stays" in note for note in kept.notes)
        assert indexes(db) == []
        mine.commit()
    assert len(indexes(db)) == 1


@pytest.mark.usefixtures("_small")
async def test_the_async_client_builds_too(database: str, db: Database) -> None:
    async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
        report = await rag.ingest(texts=texts(30))
    assert any("built the vector index" in note for note in report.notes)
    assert len(indexes(db)) == 1


@pytest.mark.usefixtures("_small")
def test_workers_build_at_the_end_of_the_queue(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    Queue(rag).enqueue(texts=texts(60))
    counts: list[int] = []
    notes: list[str] = []
    work(
        rag,
        WorkOptions(drain=True),
        stop=threading.Event(),
        on_job=lambda job, report: counts.append(len(indexes(db))),
        on_note=notes.append,
    )
    assert set(counts) == {0}
    assert len(counts) == 60
    assert any("built the vector index" in note for note in notes)
    assert len(indexes(db)) == 1


def test_an_unknown_policy_is_refused(rag: ragpg.Client) -> None:
    with pytest.raises(ConfigError, match="auto, live, after"):
        rag.ingest(texts=texts(1), index="never")  # type: ignore[arg-type]


def test_progress_is_told_and_its_error_ends_the_build(
    database: str, db: Database, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.vector_index._LOOK", 0.01)
    monkeypatch.setattr("ragpg.vector_index._GRACE", 0.5)
    rag.ingest(texts=texts(5))
    # A writer that has not ended keeps a concurrent build waiting.
    with psycopg.connect(database) as writer:
        writer.execute("lock table ragpg.embedding_1 in row exclusive mode")
        told: list[IndexProgress] = []

        def stop(progress: IndexProgress) -> None:
            told.append(progress)
            if progress.phase.startswith("waiting"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build_index(database, 1, on_progress=stop)
    assert told[-1].space_id == 1
    assert told[-1].phase.startswith("waiting")
    # The writer kept the clearing up waiting, so that the next build does it.
    assert build_index(database, 1, on_progress=told.append)
    assert len(indexes(db)) == 1
    assert drop_index(database, 1)
    assert not drop_index(database, 1)


def test_a_pooler_is_noticed_and_its_sessions_are_left_as_they_were(
    database: str, db: Database, rag: ragpg.Client
) -> None:
    rag.ingest(texts=texts(5))
    assert not is_pooled(db)
    with Pooler(database, size=2) as pooler:
        with psycopg.connect(pooler.dsn, autocommit=True) as connection:
            assert is_pooled(connection)
        assert not drop_index(pooler.dsn, 1)
        assert build_index(pooler.dsn, 1)
    assert len(indexes(db)) == 1
    held = """select count(*) from pg_locks
               where locktype = 'advisory'
                 and database = (select oid from pg_database where datname = current_database())"""
    assert db.execute(held).fetchone() == (0,)
