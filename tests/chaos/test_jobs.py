"""Workers and the server die at random: every document is there in the end, once, as last told.

RAGPG_CHAOS_ROUNDS makes it longer: 50 rounds take some minutes.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import psycopg

import ragpg
from ragpg import localdb
from ragpg.errors import RagpgError
from ragpg.jobs.queue import Queue

from .test_crashes import kill_server, own_server

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["own_server"]

ROUNDS = int(os.environ.get("RAGPG_CHAOS_ROUNDS", "3"))
WORKERS, SOURCES = 4, 60
WORK = textwrap.dedent("""
    import sys, threading, time
    import ragpg
    from ragpg.jobs.options import WorkOptions
    from ragpg.jobs.worker import work
    from ragpg.testing import HashEmbedder

    class Slow(HashEmbedder):
        def embed_documents(self, texts):
            time.sleep(0.05)
            return super().embed_documents(texts)

    settings = ragpg.Settings(claim_ttl=2, pool_timeout=2, connect_timeout=2)
    while True:
        try:
            with ragpg.connect(sys.argv[1], embedder=Slow(32), settings=settings) as rag:
                work(rag, WorkOptions(lease=2, poll=0.1), stop=threading.Event())
        except ragpg.RagpgError:
            time.sleep(0.2)
""")


def text(source: int, version: int, large: bool) -> str:
    parts = 150 if large else 3
    return "\n\n".join(
        f"# Part {part}\n\n" + f"Version {version} of part {part} in document {source}. " * 20
        for part in range(parts)
    )


class Chaos:
    """A server, its workers, and what was told to the queue last."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.random = random.Random(7)
        self.told: dict[str, str] = {}
        self.killed = {"workers": 0, "servers": 0}
        self.workers = [self.start() for _ in range(WORKERS)]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", WORK, self.dsn],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def tell(self, version: int) -> None:
        """Enqueue new versions of some documents, until the server has them."""
        chosen = self.random.sample(range(SOURCES), 25)
        texts = {f"{n:03}.md": text(n, version, large=n % 30 == 0) for n in chosen}
        self.until(lambda: self.queue(lambda queue: queue.enqueue(texts=texts.items())))
        self.told |= texts

    def queue(self, ask: Callable[[Queue], Any]) -> Any:
        try:
            with ragpg.connect(self.dsn, settings=ragpg.Settings(pool_timeout=3)) as rag:
                return ask(Queue(rag))
        except RagpgError:
            return None

    def until(self, ask: Callable[[], Any], seconds: float = 120.0) -> Any:
        end = time.monotonic() + seconds
        while not (found := ask()):
            assert time.monotonic() < end, self.queue(lambda queue: queue.jobs(k=5))
            time.sleep(0.2)
        return found

    def kill_workers(self) -> None:
        for place in self.random.sample(range(WORKERS), self.random.randint(1, 3)):
            self.workers[place].kill()
            self.workers[place].wait()
            self.workers[place] = self.start()
            self.killed["workers"] += 1

    def kill_server(self) -> None:
        kill_server()
        time.sleep(self.random.uniform(0, 0.5))
        localdb.up()
        self.killed["servers"] += 1

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


def test_nothing_is_lost_or_doubled(own_server: str) -> None:
    chaos = Chaos(own_server)
    try:
        for version in range(ROUNDS):
            chaos.tell(version)
            time.sleep(chaos.random.uniform(0.3, 2.0))
            if version % 4 == 2:
                chaos.kill_server()
            else:
                chaos.kill_workers()
        chaos.until(
            lambda: (
                chaos.queue(
                    lambda queue: sum(one.waiting + one.running for one in queue.progress())
                )
                == 0
            )
        )
    finally:
        chaos.end()
    assert chaos.queue(lambda queue: queue.jobs(state="quarantined")) == []
    check(own_server, chaos.told)
    assert min(chaos.killed.values()) > 0


def check(dsn: str, told: dict[str, str]) -> None:
    """Every document is as it was last told, whole, and once."""
    with psycopg.connect(dsn, autocommit=True) as db:
        [space] = db.execute("select space_id from ragpg.namespace").fetchone() or [0]
        rows = db.execute(
            f"""
            select document.source, count(*), count(distinct chunk.ordinal), count(keyword.chunk_id),
                   count(vectors.chunk_id), string_agg(chunk.content, '' order by chunk.ordinal)
              from ragpg.document
              join ragpg.chunk on chunk.document_id = document.id
              left join ragpg.chunk_keyword as keyword on keyword.chunk_id = chunk.id
              left join ragpg.embedding_{int(space)} as vectors on vectors.chunk_id = chunk.id
             group by 1 order by 1""".encode()
        ).fetchall()
        assert [row[0] for row in rows] == sorted(told)
        for source, chunks, ordinals, keywords, vectors, content in rows:
            assert chunks == ordinals == keywords == vectors, source
            version = told[source].partition("Version ")[2].partition(" of ")[0]
            assert content.count("# Part ") == told[source].count("# Part "), source
            assert content.count(f"Version {version} of ") == content.count("Version "), source
        vectors_stored = db.execute(
            f"select count(*) from ragpg.embedding_{int(space)} as vectors"
            " left join ragpg.chunk on chunk.id = vectors.chunk_id where chunk.id is null".encode()
        ).fetchall()
        assert vectors_stored == [(0,)]
