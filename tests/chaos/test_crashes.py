"""kill -9 in the middle of an ingest: no half document, and the same command completes it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg import localdb, migrate
from ragpg.jobs.loop import Loop
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECT = Path(__file__).parents[2]
FILES, SECTIONS = 60, 12
INGEST = textwrap.dedent("""
    import sys
    import ragpg
    from ragpg.testing import HashEmbedder
    rag = ragpg.connect(sys.argv[1], embedder=HashEmbedder(32), settings=ragpg.Settings(claim_ttl=1, pool_timeout=3))
    rag.ingest([sys.argv[2]], namespace="docs")
""")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Files of a fixed number of sections, so that half of one is easy to see."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(FILES):
        sections = (
            f"# Part {part}\n\n" + f"Sentence {part} of file {number}. " * 40
            for part in range(SECTIONS)
        )
        (folder / f"f{number:03d}.md").write_text("\n\n".join(sections))
    return folder


@pytest.fixture
def own_server() -> Iterator[str]:
    """The DSN of a server that may be killed."""
    programs = os.environ.get("RAGPG_DB_PROGRAMS") or str(PROJECT / ".ragpg/programs")
    with pytest.MonkeyPatch.context() as patch:
        folder = Path(tempfile.mkdtemp(prefix="ragpg-crash-"))
        folder.chmod(0o755)
        patch.setenv("RAGPG_DB_PROGRAMS", programs)
        patch.setenv("RAGPG_DB_HOME", str(folder))
        dsn = localdb.up(throwaway=True)
        migrate.upgrade(dsn)
        yield dsn
        localdb.destroy()
        shutil.rmtree(folder, ignore_errors=True)


def start(dsn: str, corpus: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", INGEST, dsn, str(corpus)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_server() -> None:
    data = localdb.status().data
    os.kill(int((data / "postmaster.pid").read_text().split("\n")[0]), signal.SIGKILL)


def wait_for_some_documents(dsn: str, client: subprocess.Popen[bytes]) -> None:
    """Until the first transaction has committed; the ingest goes on meanwhile."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(2000):
            row = connection.execute("select count(*) from ragpg.embedding_cache").fetchone()
            if (row and row[0]) or client.poll() is not None:
                return
            time.sleep(0.005)


def assert_whole(dsn: str) -> int:
    """Every document there is has all its chunks, keyword rows and vectors; how many there are."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        # A crash makes identity numbers jump.
        [space] = connection.execute("select space_id from ragpg.namespace").fetchone() or [0]
        rows = connection.execute(
            f"""
            select document.source, count(chunk.id), count(keyword.chunk_id), count(vectors.chunk_id)
              from ragpg.document
              left join ragpg.chunk on chunk.document_id = document.id
              left join ragpg.chunk_keyword as keyword on keyword.chunk_id = chunk.id
              left join ragpg.embedding_{int(space)} as vectors on vectors.chunk_id = chunk.id
             group by 1""".encode()
        ).fetchall()
        counts = {tuple(row[1:]) for row in rows}
        assert len(counts) <= 1, counts
        for chunks, keywords, vectors in counts:
            assert chunks == keywords == vectors
        return len(rows)


def finish(dsn: str, corpus: Path) -> None:
    settings = ragpg.Settings(claim_ttl=1)
    with ragpg.connect(dsn, embedder=HashEmbedder(32), settings=settings) as rag:
        report = rag.ingest([corpus], namespace="docs")
        assert report.ok
        assert report.count("stored") + report.count("unchanged") == FILES
        assert assert_whole(dsn) == FILES
        again = rag.ingest([corpus], namespace="docs")
        assert again.count("unchanged") == FILES
        hits = rag.search("Sentence 3 of file 17", namespace="docs").hits
        assert hits[0].source == "f017.md"


def test_the_client_is_killed(database: str, corpus: Path) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(32)) as rag:
        rag.create_namespace("docs")
    for _ in range(3):
        client = start(database, corpus)
        wait_for_some_documents(database, client)
        client.kill()
        client.wait()
        assert_no_half_document(database)
    finish(database, corpus)


def assert_no_half_document(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute("""
            select count(chunk.id) from ragpg.document
              join ragpg.namespace on namespace.id = document.namespace_id and namespace.name = 'docs'
              left join ragpg.chunk on chunk.document_id = document.id
             group by document.id""").fetchall()
        assert len(set(rows)) <= 1, rows


def test_the_server_is_killed(own_server: str, corpus: Path) -> None:
    with ragpg.connect(own_server, embedder=HashEmbedder(32)) as rag:
        rag.create_namespace("docs")
    client = start(own_server, corpus)
    wait_for_some_documents(own_server, client)
    kill_server()
    client.wait(timeout=60)
    dsn = localdb.up()
    assert_no_half_document(dsn)
    finish(dsn, corpus)


class FlushingEmbedder(HashEmbedder):
    """What was committed before a text is embedded outlives the server."""

    def __init__(self, dsn: str) -> None:
        super().__init__(32)
        self.dsn = dsn

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("checkpoint")
        return super().embed_documents(texts)


def test_a_server_that_loses_commits_loses_no_job(
    own_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with synchronous_commit = off, or when a replica takes over: the document is gone, and the
    worker was about to say that it is done."""
    with psycopg.connect(own_server, autocommit=True) as connection:
        connection.execute("alter system set wal_writer_delay = '10s'")
        connection.execute("alter system set wal_writer_flush_after = '1GB'")
        connection.execute("select pg_reload_conf()")
    finish, crashes = Loop._finish, list[int]()

    def crash(self: Loop, done: Any) -> None:
        if done and not crashes:
            crashes.append(documents(own_server))
            kill_server()
            localdb.up()
            crashes.append(documents(own_server))
        finish(self, done)

    monkeypatch.setattr(Loop, "_finish", crash)
    with ragpg.connect(own_server, embedder=FlushingEmbedder(own_server)) as rag:
        Queue(rag).enqueue(texts=[("a.md", "The text of the job.")], namespace="docs")
        work(rag, WorkOptions(drain=True, lease=5, poll=0.1), stop=threading.Event())
        [job] = Queue(rag).jobs()
    assert crashes == [1, 0], "the server has lost what it had committed"
    assert documents(own_server) == 1
    assert (job.state, job.result, job.attempts) == ("done", "stored", 1)


def documents(dsn: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as connection:
        [count] = connection.execute("select count(*) from ragpg.document").fetchone() or [0]
        return int(count)
