"""Workers do what was enqueued, whatever happens to them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import ragpg
from ragpg.errors import ConfigError, RateLimited, ReadOnlyDatabase
from ragpg.jobs.listen import Listener
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import AsyncQueue, Queue
from ragpg.jobs.worker import work
from ragpg.testing import HashEmbedder

from .doubles import CountingEmbedder
from .pooler import Pooler
from .test_cases_ops import KEY, refusing_service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Database = psycopg.Connection[Any]

LONG = "\n\n".join(f"# Part {n}\n\n" + f"Sentence {n} of a long text. " * 30 for n in range(400))


def drain(rag: ragpg.Client, **options: Any) -> list[str]:
    """Do all jobs; what was noted meanwhile."""
    notes: list[str] = []
    options = {"drain": True, "poll": 0.1, **options}
    work(rag, WorkOptions(**options), stop=threading.Event(), on_note=notes.append)
    return notes


@contextmanager
def working(
    rag: ragpg.Client, **options: Any
) -> Iterator[tuple[threading.Event, threading.Thread]]:
    """A worker in the background."""
    stop = threading.Event()
    thread = threading.Thread(
        target=lambda: work(rag, WorkOptions(**{"poll": 0.1, **options}), stop=stop)
    )
    thread.start()
    try:
        yield stop, thread
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def states(db: Database) -> dict[str, str]:
    return dict(db.execute("select source, state from ragpg.job order by id").fetchall())


def sources(db: Database) -> list[str]:
    return [row[0] for row in db.execute("select source from ragpg.document order by 1")]


def is_over(db: Database) -> bool:
    """Whether all jobs have ended; what is to be tried again is so at once."""
    db.execute("update ragpg.job set run_at = now() where state = 'waiting'")
    return set(states(db).values()) <= {"done", "quarantined"}


def test_a_text_from_sql_is_embedded_and_found(rag: ragpg.Client, db: Database) -> None:
    db.execute(
        "select ragpg.enqueue('refunds.md', E'# Refunds\n\nRefunds take 14 days.',"
        " metadata => '{\"year\": 2024}')"
    )
    drain(rag)
    [hit] = rag.search("how long do refunds take", filter={"year": 2024}).hits
    assert hit.source == "refunds.md"
    assert {"keyword", "vector"} <= set(hit.arms)
    [job] = Queue(rag).jobs()
    assert (job.state, job.result, job.chunks, job.error) == ("done", "stored", 1, None)


def test_folders_texts_and_deletions(rag: ragpg.Client, db: Database, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.md", "sub/b.md", "c.txt"):
        (tmp_path / name).write_text(f"Text of {name}.")
    queue = Queue(rag)
    report = queue.enqueue(tmp_path, texts=[("d", "Text of d.")], batch="load", metadata={"x": 1})
    assert [job.source for job in report.jobs] == ["a.md", "c.txt", "d", "sub/b.md"]
    drain(rag, folders=[str(tmp_path)])
    assert sources(db) == ["a.md", "c.txt", "d", "sub/b.md"]
    # The same documents as without a queue.
    assert rag.ingest([tmp_path], metadata={"x": 1}).count("unchanged") == 3
    (tmp_path / "c.txt").unlink()
    queue.enqueue(tmp_path, metadata={"x": 1}, prune=True)
    drain(rag, folders=[str(tmp_path)])
    assert sources(db) == ["a.md", "d", "sub/b.md"]
    results = {job.source: job.result for job in reversed(queue.jobs())}
    assert results == {
        "a.md": "unchanged",
        "c.txt": "removed",
        "d": "stored",
        "sub/b.md": "unchanged",
    }
    [progress] = [one for one in queue.progress() if one.batch == "load"]
    assert progress.percent == 100.0


def test_async_twin(database: str, db: Database, rag: ragpg.Client) -> None:
    async def put() -> None:
        async with ragpg.aconnect(database) as client:
            queue = AsyncQueue(client)
            report = await queue.enqueue(texts=[("a", "Text."), ("b", "Text.")], batch="x")
            assert [job.source for job in report.jobs] == ["a", "b"]
            assert [job.source for job in await queue.jobs()] == ["b", "a"]
            assert (await queue.progress())[0].waiting == 2
            assert await queue.retry() == 0
            assert await queue.delete([report.jobs[0].job_id]) == 1

    asyncio.run(put())
    drain(rag)
    assert sources(db) == ["b"]


def test_a_callers_transaction_decides_whether_it_is_queued(database: str, db: Database) -> None:
    with psycopg.connect(database) as connection, ragpg.connect(connection) as client:
        Queue(client).enqueue(texts=[("a", "Text.")])
        connection.rollback()
        Queue(client).enqueue(texts=[("b", "Text.")])
        connection.commit()
        with pytest.raises(ConfigError, match="one connection"):
            drain(client)
    assert states(db) == {"b": "waiting"}


class Picky(HashEmbedder):
    """Refuses whole texts with a word, as a service does that dislikes a document."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise RuntimeError("cannot embed that")
        return super().embed_documents(texts)


def test_a_poison_document_ends_in_quarantine_and_stops_nobody(
    database: str, db: Database, tmp_path: Path
) -> None:
    texts = [(f"good{n:02}", f"Text {n}.") for n in range(30)]
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.4\nnothing of that kind")
    poison = "\n\n".join(f"# P{n}\n\n" + "poison in every part. " * 60 for n in range(8))
    with ragpg.connect(database, embedder=Picky(32)) as rag:
        queue = Queue(rag)
        queue.enqueue([bad], texts=[*texts, ("poison.md", poison)], max_attempts=2)
        with working(rag, folders=[str(tmp_path)]):
            until(lambda: is_over(db))
        listed = {job.source: job for job in queue.jobs(state="quarantined")}
        assert set(listed) == {"bad.pdf", "poison.md"}
        assert "cannot embed that" in (listed["poison.md"].error or "")
        assert listed["bad.pdf"].attempts == 2
        assert queue.retry(ids=[listed["poison.md"].id]) == 1
        assert queue.delete([listed["bad.pdf"].id]) == 1
    with ragpg.connect(database, embedder=HashEmbedder(32)) as rag:
        drain(rag)
    assert set(states(db).values()) == {"done"}
    assert len(states(db)) == 31


class Limited(CountingEmbedder):
    """A service that asks for time, once."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if not self.requests:
            self.requests += 1
            error = RateLimited("the service answered 429")
            error.after = 1.5
            raise error
        return super().embed_documents(texts)


def test_a_service_that_asks_to_wait_is_given_that_time(database: str, db: Database) -> None:
    with ragpg.connect(database, embedder=Limited()) as rag:
        Queue(rag).enqueue(texts=[("a", "Text of a."), ("b", "Text of b.")])
        began = time.monotonic()
        notes = drain(rag)
        assert time.monotonic() - began > 1.5
        assert any("429" in note for note in notes)
        assert {job.attempts for job in Queue(rag).jobs()} == {1}
    assert set(states(db).values()) == {"done"}


def test_a_service_that_is_away_costs_no_attempt(database: str, db: Database) -> None:
    class Away(CountingEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            if self.down:
                raise ConnectionError("no route")
            return super().embed_documents(texts)

    embedder = Away()
    embedder.down = True
    with ragpg.connect(database, embedder=embedder) as rag:
        text = "\n\n".join(f"# P{n}\n\n" + "Words of a part. " * 60 for n in range(4))
        Queue(rag).enqueue(texts=[("a.md", text)], max_attempts=1)
        with working(rag):
            until(lambda: Queue(rag).jobs(state="delayed") or Queue(rag).jobs(state="waiting"))
            until(lambda: db.execute("select error from ragpg.job").fetchall()[0][0] is not None)
            embedder.down = False
            until(lambda: states(db) == {"a.md": "done"})


def test_a_worker_with_another_model_leaves_the_namespace_to_others(
    database: str, rag: ragpg.Client, db: Database
) -> None:
    rag.ingest(texts=[("a", "Text.")], namespace="mine")
    Queue(rag).enqueue(texts=[("b", "Text.")], namespace="mine", max_attempts=1)
    Queue(rag).enqueue(texts=[("c", "Text.")], namespace="other")
    with ragpg.connect(database, embedder=HashEmbedder(16)) as stranger:
        notes = drain(stranger)
    assert any("leaving namespace mine to others" in note for note in notes)
    assert states(db) == {"b": "waiting", "c": "done"}
    drain(rag)
    assert states(db) == {"b": "done", "c": "done"}


def test_a_stopped_worker_gives_its_job_back_and_the_next_goes_on(
    database: str, db: Database
) -> None:
    embedder = CountingEmbedder(delay=0.15)
    with ragpg.connect(database, embedder=embedder) as rag:
        Queue(rag).enqueue(texts=[("long.md", LONG)])
        with working(rag) as (stop, thread):
            until(lambda: embedder.requests >= 2)
            began = time.monotonic()
            stop.set()
            thread.join(20)
            assert time.monotonic() - began < 5
        [job] = Queue(rag).jobs()
        assert (job.state, job.attempts, job.worker) == ("waiting", 0, None)
        assert sources(db) == []
        before = len(embedder.texts)
        drain(rag)
        assert before >= 128
        # What was computed is not computed again.
        assert len(embedder.texts) == len(set(embedder.texts))
        [job] = Queue(rag).jobs()
        assert job.chunks is not None
        assert job.embedded == job.chunks - before


def test_progress_is_seen_while_a_large_document_is_embedded(database: str, db: Database) -> None:
    embedder = CountingEmbedder(delay=0.4)
    with ragpg.connect(database, embedder=embedder) as rag:
        Queue(rag).enqueue(texts=[("long.md", LONG)])
        with working(rag, lease=0.6):
            until(
                lambda: db.execute(
                    "select 1 from ragpg.jobs where state = 'running' and embedded > 0"
                ).fetchall()
            )
        drain(rag)
    assert states(db) == {"long.md": "done"}


def test_one_that_slept_past_its_lease_writes_nothing(database: str, db: Database) -> None:
    class Slow(CountingEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
            if any("old words" in text for text in texts):
                asleep.set()
                assert wake.wait(20)
            return super().embed_documents(texts)

    asleep, wake = threading.Event(), threading.Event()
    with (
        ragpg.connect(database, embedder=Slow()) as sleeper,
        ragpg.connect(database, embedder=CountingEmbedder()) as rag,
    ):
        Queue(rag).enqueue(texts=[("a", "The old words.")])
        with working(sleeper, lease=3600):
            assert asleep.wait(20)
            db.execute("update ragpg.job set lease_until = now() - interval '1 second'")
            Queue(rag).enqueue(texts=[("a", "The new text.")])
            drain(rag)
            assert states(db) == {"a": "done"}
            wake.set()
            time.sleep(0.5)
    [content] = db.execute("select content from ragpg.chunk").fetchall()
    assert content == ("The new text.",)


def test_a_job_that_is_deleted_while_it_runs_stores_nothing(database: str, db: Database) -> None:
    embedder = CountingEmbedder(delay=0.3)
    with ragpg.connect(database, embedder=embedder) as rag:
        Queue(rag).enqueue(texts=[("long.md", LONG)])
        Queue(rag).enqueue(texts=[("later", "Text.")])
        with working(rag, lease=1):
            until(lambda: embedder.requests >= 1)
            assert Queue(rag).delete(state="running") == 1
            until(lambda: states(db) == {"later": "done"})
    assert sources(db) == ["later"]


def test_several_threads_share_the_work(database: str, db: Database) -> None:
    embedder = CountingEmbedder(delay=0.05)
    with ragpg.connect(database, embedder=embedder) as rag:
        Queue(rag).enqueue(texts=[(f"t{n:02}", f"Text number {n}.") for n in range(40)])
        drain(rag, threads=4)
    assert len(sources(db)) == 40
    workers = db.execute("select count(distinct worker) from ragpg.job").fetchall()
    assert workers[0][0] > 1
    assert len(embedder.texts) == 40


def test_listen_where_it_is_heard_and_polling_behind_a_pooler(database: str, db: Database) -> None:
    stop = threading.Event()
    woken = threading.Event()
    with ragpg.connect(database) as rag:
        listener = Listener(rag, woken.set, stop)
        listener.start()
        assert listener.settled.wait(10)
        assert listener.mode == "listening"
        woken.clear()
        Queue(rag).enqueue(texts=[("a", "Text.")])
        assert woken.wait(5)
        stop.set()
        listener.join()
    stop.clear()
    with Pooler(database, size=2) as pooler:
        with ragpg.connect(pooler.dsn, embedder=HashEmbedder(32)) as rag:
            listener = Listener(rag, woken.set, stop)
            listener.start()
            assert listener.settled.wait(10)
            assert listener.mode == "polling"
            drain(rag)
        assert states(db) == {"a": "done"}


def test_a_worker_follows_a_lost_database_connection(rag: ragpg.Client, db: Database) -> None:
    with working(rag):
        Queue(rag).enqueue(texts=[("a", "Text.")])
        until(lambda: states(db) == {"a": "done"})
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        db.execute("select ragpg.enqueue('b', 'Text.')")
        until(lambda: states(db) == {"a": "done", "b": "done"})


@pytest.mark.case("OP-03")
def test_a_file_that_became_a_link_out_of_its_folder_is_not_read_op_03(
    rag: ragpg.Client, db: Database, tmp_path: Path
) -> None:
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    docs.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("The secret of the house.")
    (docs / "a.md").write_text("Text of a.")
    (docs / "link.md").symlink_to(outside / "secret.md")
    (docs / "dir").symlink_to(outside)
    report = Queue(rag).enqueue(docs, max_attempts=1)
    assert [job.source for job in report.jobs] == ["a.md"]
    assert {one.source.rstrip("/") for one in report.rejected} == {"link.md", "dir"}
    (docs / "a.md").unlink()
    (docs / "a.md").symlink_to(outside / "secret.md")
    # A person with SQL alone gets no file that the worker was not given.
    db.execute(
        "select ragpg.enqueue_jobs('default', jsonb_build_array(jsonb_build_object('source', 's',"
        " 'kind', 'file', 'path', %s::text, 'root', %s::text, 'follow_links', true)))",
        [str(outside / "secret.md"), str(outside)],
    )
    notes = drain(rag, folders=[str(docs)])
    assert any("may not do" in note for note in notes)
    assert states(db) == {"a.md": "quarantined", "s": "waiting"}
    assert db.execute("select count(*) from ragpg.chunk").fetchall() == [(0,)]


@pytest.mark.case("OP-01")
def test_a_key_that_a_service_refuses_is_not_in_the_queue_op_01(
    database: str, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("openai")
    caplog.set_level(logging.DEBUG)
    stop = threading.Event()
    notes: list[str] = []

    def noted(text: str) -> None:
        notes.append(text)
        stop.set()

    with refusing_service() as url:
        embedder = ragpg.OpenAIEmbedder(
            "stub", base_url=url, api_key=KEY, dimensions=8, max_retries=0
        )
        with ragpg.connect(database, embedder=embedder) as rag:
            Queue(rag).enqueue(texts=[("a", "Text.")])
            work(rag, WorkOptions(), stop=stop, on_note=noted)
    [row] = db.execute("select job::text from ragpg.job").fetchall()
    assert "401" in row[0]
    assert any("401" in note for note in notes)
    assert KEY not in "".join((row[0], *notes, caplog.text))


def test_a_drain_that_may_not_write_ends_instead_of_waiting_for_ever(database: str) -> None:
    with ragpg.connect(database) as rag:
        Queue(rag).enqueue(texts=[("a.md", "A text.")], namespace="handbook")
    read_only = make_conninfo(database, options="-c default_transaction_read_only=on")
    stop = threading.Event()
    giving_up = threading.Timer(60, stop.set)
    giving_up.start()
    try:
        with ragpg.connect(read_only) as rag, pytest.raises(ReadOnlyDatabase):
            work(rag, WorkOptions(drain=True, poll=0.1), stop=stop)
    finally:
        giving_up.cancel()
