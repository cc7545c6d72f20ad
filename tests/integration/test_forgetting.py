"""Vectors of texts that are gone leave the cache, some time after, and never those still needed."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import event

import ragpg
from ragpg import targets
from ragpg.config.folders import Folder
from ragpg.config.sections import GraphAnalysis
from ragpg.config.values import Config
from ragpg.embedders import Embedders
from ragpg.errors import ConfigError
from ragpg.faults import faults
from ragpg.ingest import forgetting, large, store, windows
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.reembed.filling import build_space, switch_space
from ragpg.repair import repair
from ragpg.settings import Settings
from ragpg.testing import HashEmbedder
from ragpg.watch import watch
from tests.integration.doubles import eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Database = psycopg.Connection[Any]

TEXTS = [(f"{number}.md", f"Paragraph {number} is about its number.") for number in range(6)]


def count(db: Database, sql: str = "select count(*) from ragpg.embedding_cache") -> Any:
    row = db.execute(sql).fetchone()
    assert row is not None
    return row[0]


def noted(db: Database, days: float) -> None:
    """Let it be so long ago that texts were found gone."""
    db.execute(
        "update ragpg.embedding_unused set since = now() - make_interval(days => %s)", [days]
    )


@pytest.fixture
def rag(database: str) -> Iterator[ragpg.Client]:
    """A client that forgets at once when it drops a namespace."""
    settings = Settings(vector_retention=0)
    with ragpg.connect(database, embedder=HashEmbedder(8), settings=settings) as client:
        yield client


def test_a_text_that_comes_back_within_the_retention_costs_nothing(
    rag: ragpg.Client, db: Database
) -> None:
    rag.ingest(texts=TEXTS)
    rag.delete(["0.md", "1.md"])
    assert rag.prune_embedding_cache(7) == 0
    assert count(db) == 6
    assert count(db, "select count(*) from ragpg.embedding_unused") == 2
    # One comes back: its time starts anew, also before anybody prunes again.
    assert rag.ingest(texts=TEXTS[:1]).files[0].embedded == 0
    noted(db, 8)
    assert rag.prune_embedding_cache(7) == 1
    assert count(db) == 5
    assert count(db, "select count(*) from ragpg.embedding_unused") == 0
    [again] = rag.ingest(texts=TEXTS[1:2]).files
    assert (again.embedded, again.cached) == (1, 0)


def test_a_text_of_another_namespace_keeps_its_vector(rag: ragpg.Client, db: Database) -> None:
    rag.ingest(texts=TEXTS)
    rag.ingest(texts=TEXTS[:2], namespace="other")
    rag.drop_namespace("default")
    assert count(db) == 2
    rag.drop_namespace("other")
    assert count(db) == 0
    assert count(db, "select count(*) from ragpg.embedding_unused") == 0


def test_a_limited_client_prunes_by_what_it_drops_and_by_nothing_else(
    rag: ragpg.Client, database: str, db: Database
) -> None:
    for name in ("red", "blue"):
        rag.ingest(texts=[*TEXTS[:2], (f"{name}.md", f"Of {name} alone.")], namespace=name)
    red = rag.limited_to(["red"])
    with pytest.raises(ConfigError, match="prune_embedding_cache looks at the whole database"):
        red.prune_embedding_cache(0)

    async def prune() -> None:
        async with ragpg.aconnect(database, allowed_namespaces=["red"]) as limited:
            await limited.prune_embedding_cache(0)

    with pytest.raises(ConfigError, match="whole database"):
        asyncio.run(prune())
    assert count(db) == 4
    assert red.drop_namespace("red")
    assert count(db) == 3, "what blue has, alone and together with red"
    assert count(db, "select count(*) from ragpg.embedding_unused") == 0


def test_the_time_of_a_namespace_that_is_dropped_counts_from_then(
    database: str, db: Database
) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        rag.ingest(texts=TEXTS)
        rag.ingest(texts=TEXTS[:2], namespace="other")
        rag.drop_namespace("default")
        assert count(db) == 6
        noted(db, 8)
        # What the other namespace has too is no longer counted as gone.
        assert rag.prune_embedding_cache() == 4
    assert count(db) == 2
    assert count(db, "select count(*) from ragpg.embedding_unused") == 0


def test_vectors_of_a_space_that_nobody_uses_any_more_go_too(
    rag: ragpg.Client, db: Database
) -> None:
    rag.ingest(texts=TEXTS)
    rag.run(build_space("default", HashEmbedder(16)))
    rag.run(switch_space("default"))
    assert rag.prune_embedding_cache(0) == 0, "the way back is kept"
    db.execute("delete from ragpg.namespace_space")
    assert rag.prune_embedding_cache(0) == 6
    assert count(db, "select count(*) from ragpg.embedding_cache where space_id = 2") == 6


def test_batches_add_up(rag: ragpg.Client, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rag.ingest(texts=TEXTS)
    rag.delete([source for source, _ in TEXTS])
    monkeypatch.setattr(forgetting, "BATCH", 2)
    assert rag.prune_embedding_cache(0) == 6
    assert count(db) == 0


def test_pruning_at_once_takes_nothing_from_an_ingest_that_runs(
    database: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = store.store_rows
    pruned: list[int] = []

    def store_rows(*arguments: Any) -> Any:
        if len(pruned) < 2:
            pruned.append(count(db, "select ragpg.prune_embedding_cache('0 s')"))
        return (yield from began(*arguments))

    monkeypatch.setattr(store, "store_rows", store_rows)
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        report = rag.ingest(texts=TEXTS)
        assert pruned == [6]
        assert count(db, "select count(*) from ragpg.embedding_1") == 6
        assert [file.status for file in report.files] == ["stored"] * 6
        # And once more, for a text that was in the cache only.
        rag.delete("0.md")
        rag.ingest(texts=TEXTS[:1])
        assert pruned == [6, 1]
        assert count(db, "select count(*) from ragpg.embedding_1") == 6


def test_a_large_file_keeps_its_vectors_too(
    database: str, db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    began = store.store_rows

    def store_rows(*arguments: Any) -> Any:
        assert count(db, "select ragpg.prune_embedding_cache('0 s')") > 1
        return (yield from began(*arguments))

    monkeypatch.setattr(large, "store_rows", store_rows)
    monkeypatch.setattr(windows, "LARGE", 1000)
    (tmp_path / "long.txt").write_text(
        "\n\n".join(f"{n}. A paragraph of words." for n in range(99))
    )
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        [file] = rag.ingest([tmp_path / "long.txt"]).files
    assert file.chunks > 1
    assert count(db, "select count(*) from ragpg.embedding_1") == file.chunks


@pytest.mark.parametrize("size", ["small", "large"])
def test_a_space_that_is_filled_beside_loses_no_vector_either(
    size: str, database: str, db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    began = store.store_rows
    pruned: list[int] = []

    def store_rows(*arguments: Any) -> Any:
        pruned.append(count(db, "select ragpg.prune_embedding_cache('0 s')"))
        return (yield from began(*arguments))

    old, new = HashEmbedder(8), HashEmbedder(16)
    path = tmp_path / "long.txt"
    path.write_text("\n\n".join(f"{n}. A paragraph of words." for n in range(99)))
    monkeypatch.setattr(windows, "LARGE", 1000 if size == "large" else 1_000_000)
    with ragpg.connect(database, embedder=Embedders(old, new)) as rag:
        rag.ingest(texts=TEXTS[:1])
        rag.run(build_space("default", new))
        # The same text elsewhere keeps the vectors of the searched space, which alone are counted.
        rag.ingest([path], namespace="other")
        monkeypatch.setattr(large if size == "large" else store, "store_rows", store_rows)
        [file] = rag.ingest([path]).files
    assert pruned == [file.chunks]
    assert file.cached == file.chunks > 1
    stored = "select count(*) from ragpg.embedding_{} where namespace_id = 1"
    assert count(db, stored.format(1)) == file.chunks + 1
    assert count(db, stored.format(2)) == file.chunks + 1


def test_a_large_file_is_read_once_for_all_spaces(
    database: str, db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once to embed, once to copy, and once more to see that nothing was pruned beside."""
    began = windows.Windows.chunks
    readings: list[str] = []

    def chunks(self: windows.Windows, chunker: Any) -> Any:
        readings.append(self.file.source)
        return began(self, chunker)

    spaces = [HashEmbedder(8), HashEmbedder(16), HashEmbedder(24)]
    path = tmp_path / "long.txt"
    path.write_text("\n\n".join(f"{n}. A paragraph of words." for n in range(99)))
    monkeypatch.setattr(windows, "LARGE", 1000)
    with ragpg.connect(database, embedder=Embedders(*spaces)) as rag:
        rag.ingest(texts=TEXTS[:1])
        for beside in spaces[1:]:
            rag.run(build_space("default", beside))
        monkeypatch.setattr(windows.Windows, "chunks", chunks)
        [file] = rag.ingest([path]).files
    assert readings == ["long.txt"] * 3
    for space in (1, 2, 3):
        stored = f"select count(*) from ragpg.embedding_{space} where namespace_id = 1"
        assert count(db, stored) == file.chunks + 1


def test_the_doctor_prunes_what_was_found_gone_long_ago(
    rag: ragpg.Client, database: str, db: Database
) -> None:
    rag.ingest(texts=TEXTS)
    rag.delete("0.md")
    [done] = [one for one in repair(database, retention=3) if one.name == "cache"]
    assert "1 of 6 cached vectors" in done.detail
    assert "3 days after" in done.detail
    assert done.error is None
    assert count(db) == 6
    assert "cache" not in [one.name for one in repair(database, retention=3)]
    noted(db, 4)
    assert "cache" in [one.name for one in repair(database, retention=3)]
    assert count(db) == 5
    # Whoever wants none left hears of each; few that wait are nothing to report.
    rag.delete("1.md")
    assert "cache" in [one.name for one in rag.doctor()]
    with ragpg.connect(database) as patient:
        assert "cache" not in [one.name for one in patient.doctor()]
    rag.doctor(fix=True)
    assert count(db) == 4


def test_the_doctor_joins_chunks_and_cached_vectors_once(rag: ragpg.Client, database: str) -> None:
    rag.ingest(texts=TEXTS)
    asked: list[tuple[str, Any]] = []

    def listen(*execution: Any) -> None:
        asked.append(execution[2:4])

    with targets.transaction(database) as connection:
        event.listen(connection, "before_cursor_execute", listen)
        list(faults(connection))
        event.remove(connection, "before_cursor_execute", listen)
        [(statement, values)] = [one for one in asked if "embedding_unused as noted" in one[0]]
        rows = connection.exec_driver_sql(f"explain {statement}", values)
        plan = [row[0].strip() for row in rows]
    # A sub-plan would read all chunks again for each vector.
    assert any("Anti Join" in line for line in plan)
    assert [line for line in plan if "SubPlan" in line] == []


@pytest.fixture
def idle(
    database: str, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ragpg.Client]:
    """A client that prunes whenever it had nothing to do for a tenth of a second; two of the six
    texts that it has embedded are gone."""
    rag.ingest(texts=TEXTS)
    rag.delete(["0.md", "1.md"])
    monkeypatch.setattr(forgetting, "EVERY", 0.0)
    config = Config(graph=GraphAnalysis(analyse=False, quiet=0.1))
    settings = Settings(vector_retention=0)
    with ragpg.connect(
        database, embedder=HashEmbedder(8), settings=settings, config=config
    ) as client:
        yield client


def test_a_worker_prunes_while_it_has_nothing_else_to_do(idle: ragpg.Client, db: Database) -> None:
    with running(work, idle, WorkOptions(poll=0.05)):
        assert eventually(lambda: count(db) == 4, 20)


def test_watching_prunes_while_nothing_changes(
    idle: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    with running(watch, idle, [Folder(str(tmp_path), "watched")]):
        assert eventually(lambda: count(db) == 4, 20)


def test_jobs_are_done_and_stop_is_seen_while_a_batch_of_pruning_takes_long(
    idle: ragpg.Client, database: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 1)
    waiting = """select count(*) from pg_stat_activity
                  where datname = current_database() and wait_event_type = 'Lock'"""
    with psycopg.connect(database) as other:
        other.execute("lock table ragpg.embedding_unused in access exclusive mode")
        with running(work, idle, WorkOptions(poll=0.05)):
            assert eventually(lambda: count(db, waiting) == 1, 20)
            # No text of it is new, so that only the pruning asks for the table.
            Queue(idle).enqueue(texts=[("empty.md", "")])
            assert eventually(lambda: Queue(idle).progress()[0].done == 1, 20)
        assert count(db, waiting) == 1
        other.rollback()
        assert eventually(lambda: count(db, waiting) == 0, 20)
        assert eventually(lambda: count(db) == 5, 20)
    # Nobody has begun the second batch.
    threading.Event().wait(0.3)
    assert count(db) == 5


def test_pruning_that_fails_is_told_and_hinders_no_job(idle: ragpg.Client, db: Database) -> None:
    db.execute(
        "create or replace function ragpg.prune_embedding_cache(older interval default null,"
        " k integer default 1) returns bigint language plpgsql as $$ begin raise 'no room left'; end $$"
    )
    notes: list[str] = []
    with running(work, idle, WorkOptions(poll=0.05), on_note=notes.append):
        assert eventually(lambda: notes, 20)
        Queue(idle).enqueue(texts=[("late.md", "Basalt.")])
        assert eventually(lambda: Queue(idle).progress()[0].done == 1, 20)
    assert all(note.startswith("vectors of texts that are gone stay for now: ") for note in notes)
    assert "no room left" in notes[0]
