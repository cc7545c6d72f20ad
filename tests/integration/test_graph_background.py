"""The analysis of graphs without being asked for: workers, watching, the doctor, the ingest."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from click.testing import CliRunner

import ragpg
from ragpg import doctor
from ragpg.cli.main import main
from ragpg.config.folders import Folder
from ragpg.config.sections import GraphAnalysis
from ragpg.config.values import Config
from ragpg.graph import analysis, background
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.repair import repair
from ragpg.testing import HashEmbedder
from ragpg.watch import watch
from tests.integration.doubles import eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Database = psycopg.Connection[Any]

TEXTS = [
    (f"d{n}.md", f"# Part {n}\n\nZirconium and feldspar {n // 2}. See [next](d{(n + 1) % 24}.md).")
    for n in range(24)
]
STATE = "select count(*) from ragpg.graph_state"
#: The lock of an analysis of namespace 1.
LOCK = "select pg_advisory_xact_lock(hashtext('ragpg.analyse_graph'), 1)"


@pytest.fixture
def ready(database: str) -> Iterator[ragpg.Client]:
    """A client whose graphs are analysed after a tenth of a second without work."""
    config = Config(graph=GraphAnalysis(quiet=0.1))
    with ragpg.connect(database, embedder=HashEmbedder(8), config=config) as client:
        yield client


def analysed(db: Database) -> int:
    [[count]] = db.execute(STATE).fetchall()
    return int(count)


def drain(rag: ragpg.Client) -> list[str]:
    notes: list[str] = []
    Queue(rag).enqueue(texts=TEXTS)
    options = WorkOptions(drain=True, poll=0.1)
    work(rag, options, stop=threading.Event(), on_note=notes.append)
    return notes


def test_a_worker_that_has_done_everything_analyses_once(rag: ragpg.Client, db: Database) -> None:
    [note] = drain(rag)
    assert note.startswith("analysed the graph of default in ")
    [status] = rag.run(analysis.status(["default"]))
    assert status.shared_terms > 0
    assert status.communities > 0
    assert status.changed_since == 0
    # What was analysed and has not changed since is left alone.
    Queue(rag).enqueue(texts=TEXTS[:1])
    notes: list[str] = []
    work(rag, WorkOptions(drain=True, poll=0.1), stop=threading.Event(), on_note=notes.append)
    assert notes == []


def test_it_may_be_switched_off(database: str, db: Database) -> None:
    config = Config(graph=GraphAnalysis(analyse=False))
    with ragpg.connect(database, embedder=HashEmbedder(8), config=config) as rag:
        assert drain(rag) == []
    assert analysed(db) == 0


def test_what_cannot_be_analysed_is_told_and_the_jobs_are_done(
    rag: ragpg.Client, db: Database
) -> None:
    db.execute(
        "create or replace function ragpg.write_pagerank(namespace_id integer, iterations integer"
        " default 20, damping double precision default 0.85) returns bigint language plpgsql"
        " as $$ begin raise 'no memory left'; end $$"
    )
    [note] = drain(rag)
    assert "the graph of default could not be analysed" in note
    assert "no memory left" in note
    assert [row.done for row in Queue(rag).progress()] == [len(TEXTS)]
    # The parts before stand, and the graph still counts as stale.
    [stale] = rag.run(analysis.stale())
    assert (stale.documents, stale.changed, stale.analysed_at) == (24, 24, None)


def test_an_error_of_one_namespace_is_told_and_hinders_no_other(
    rag: ragpg.Client, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for namespace in ("broken", "whole"):
        rag.ingest(texts=TEXTS, namespace=namespace)

    def refresh(namespace: str) -> Any:
        if namespace == "broken":
            raise ValueError("no JSON")
        return (yield from analysis.refresh(namespace))

    monkeypatch.setattr(background, "refresh", refresh)
    notes: list[str] = []
    stop = threading.Event()
    background.Analyst(rag, quiet=lambda: 1.0, note=notes.append, stop=stop).look()
    assert len(notes) == 2
    assert "the graph of broken could not be analysed" in notes[0]
    assert "no JSON" in notes[0]
    assert notes[1].startswith("analysed the graph of whole in ")


def test_what_is_stopped_before_the_last_analysis_begins_none(
    rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.ingest(texts=TEXTS)
    stop, inside, release = threading.Event(), threading.Event(), threading.Event()
    began: list[str] = []

    def look(self: background.Analyst, *arguments: Any) -> None:
        began.append(threading.current_thread().name)
        inside.set()
        release.wait(20)

    monkeypatch.setattr(background.Analyst, "look", look)
    with background.Analyst(rag, quiet=lambda: 60.0, note=print, stop=stop) as analyst:
        assert inside.wait(20)
    try:
        last = threading.Thread(target=analyst.finish)
        last.start()
        stop.set()
        last.join(20)
        assert not last.is_alive()
        assert len(began) == 1
        assert analyst._over.is_set()
    finally:
        release.set()


def test_a_worker_that_waits_analyses_in_the_background(
    ready: ragpg.Client, database: str, db: Database
) -> None:
    Queue(ready).enqueue(texts=TEXTS)
    with (
        psycopg.connect(database) as other,
        running(work, ready, WorkOptions(poll=0.1)),
    ):
        # While another session analyses, this one leaves it to that, and goes on with its jobs.
        other.execute(LOCK)
        assert eventually(lambda: Queue(ready).progress()[0].done == len(TEXTS), 60)
        Queue(ready).enqueue(texts=[("late.md", "Basalt.")])
        assert eventually(lambda: Queue(ready).progress()[0].done == len(TEXTS) + 1, 60)
        assert ready.run(analysis.refresh("default")) is None
        other.rollback()
        Queue(ready).enqueue(texts=[("last.md", "Rutile.")])
        assert eventually(lambda: analysed(db), 60)


def test_watching_analyses_its_own_namespaces_alone(
    ready: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    ready.ingest(texts=TEXTS, namespace="other")
    for source, text in TEXTS:
        (tmp_path / source).write_text(text)
    folders = [Folder(str(tmp_path), "watched")]
    with running(watch, ready, folders, debounce=0.05):
        assert eventually(lambda: analysed(db), 60)
    rows = db.execute(
        "select name from ragpg.graph_state join ragpg.namespace on namespace.id = namespace_id"
    ).fetchall()
    assert rows == [("watched",)]


def test_a_graph_is_stale_by_share_and_by_what_is_gone(rag: ragpg.Client, database: str) -> None:
    rag.ingest(texts=TEXTS)
    assert rag.run(analysis.refresh("default"))
    assert rag.run(analysis.stale()) == []
    rag.ingest(texts=[("d0.md", "Another text.")])
    assert rag.run(analysis.stale()) == []
    [stale] = rag.run(analysis.stale(["default"], share=0.01))
    assert (stale.documents, stale.changed) == (24, 1)
    rag.delete([f"d{n}.md" for n in range(3, 8)])
    [stale] = rag.run(analysis.stale())
    assert (stale.documents, stale.changed) == (19, 6)

    async def run() -> list[str]:
        async with ragpg.aconnect(database) as other:
            await other.run(analysis.refresh("default"))
            return [one.namespace for one in await other.run(analysis.stale())]

    assert asyncio.run(run()) == []


def test_the_doctor_tells_of_stale_graphs_and_analyses_them(
    rag: ragpg.Client, database: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.ingest(texts=TEXTS, namespace="it's")
    rag.ingest(texts=TEXTS[:5], namespace="small")
    found = [check for check in doctor.examine(database) if check.name == "graph"]
    assert [(one.status, one.detail, one.remedy) for one in found] == [
        (
            "warning",
            'the graph of namespace "it\'s" was never analysed: 24 documents',
            "ragpg doctor --fix",
        )
    ]
    with psycopg.connect(database) as other:
        other.execute(LOCK)
        held = [one for one in repair(database) if one.name == "graph"]
    assert [one.error for one in held] == ["another session analyses it now"]
    mended = [one for one in repair(database) if one.name == "graph"]
    assert [one.error for one in mended] == [None]
    assert analysed(db) == 1
    assert "graph" not in {check.name for check in doctor.examine(database)}
    rag.ingest(texts=[(source, text + " More.") for source, text in TEXTS[:9]], namespace="it's")
    [again] = [check for check in doctor.examine(database) if check.name == "graph"]
    assert again.detail == (
        'the graph of namespace "it\'s" has 9 changed documents of 24 since its analysis'
    )
    # How many must have changed is configured.
    config = Config(graph=GraphAnalysis(share=0.5))
    with ragpg.connect(database, config=config) as patient:
        assert "graph" not in {check.name for check in patient.doctor(fix=True)}
    assert "graph" in {check.name for check in doctor.examine(database)}
    monkeypatch.setenv("RAGPG_DSN", database)
    for share, names in (("0.5", set()), ("0.3", {"graph"})):
        monkeypatch.setenv("RAGPG_GRAPH_SHARE", share)
        told = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
        assert {check["name"] for check in told} & {"graph"} == names
