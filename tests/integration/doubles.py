"""Embedders that count, wait or fail, and small looks into the database."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragpg.errors import ProviderError
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import psycopg

    from ragpg.types import SearchResult


class CountingEmbedder(HashEmbedder):
    """Records every text; fails while `down`; waits `delay` seconds a request."""

    def __init__(self, dimensions: int = 32, *, delay: float = 0.0) -> None:
        super().__init__(dimensions)
        self.texts: list[str] = []
        self.requests = 0
        self.delay = delay
        self.down = False
        self.lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        with self.lock:
            self.requests += 1
            self.texts += texts
        if self.delay:
            time.sleep(self.delay)
        if self.down:
            raise ProviderError("the service answered 500", scope="service")
        return super().embed_documents(texts)

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        await asyncio.sleep(self.delay)
        return self.embed_query(text)


class OddEmbedder(HashEmbedder):
    """Says one length and gives others: `lengths` in turn."""

    def __init__(self, dimensions: int, lengths: Sequence[int]) -> None:
        super().__init__(dimensions)
        self.lengths = lengths

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * self.lengths[place % len(self.lengths)] for place, _ in enumerate(texts)]


def contents(db: psycopg.Connection[Any], namespace: str = "default") -> dict[str, list[str]]:
    """What is stored: the chunks of each source, in order."""
    found: dict[str, list[str]] = {}
    for source, content in db.execute(
        """select document.source, chunk.content
             from ragpg.document
             join ragpg.namespace on namespace.id = document.namespace_id
             left join ragpg.chunk on chunk.namespace_id = document.namespace_id
                                  and chunk.document_id = document.id
            where namespace.name = %s
            order by document.source, chunk.ordinal""",
        [namespace],
    ):
        found.setdefault(source, []).extend([] if content is None else [content])
    return found


def sources(result: SearchResult) -> list[str]:
    """The sources of hits, best first, each once."""
    return list(dict.fromkeys(hit.source for hit in result.hits))


def sessions(db: psycopg.Connection[Any], state: str = "%") -> int:
    """Sessions of clients on this database in a state."""
    row = db.execute(
        """select count(*) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()
              and backend_type = 'client backend' and state like %s""",
        [state],
    ).fetchone()
    assert row is not None
    return int(row[0])


def eventually(claim: Callable[[], object], seconds: float = 30.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def running(target: Callable[..., object], *arguments: Any, **more: Any) -> Iterator[None]:
    """Something that runs in a thread until its `stop` is set."""
    stop = threading.Event()
    thread = threading.Thread(target=target, args=arguments, kwargs={"stop": stop, **more})
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()


def in_threads(work: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Start all at once; the exceptions that they ended with."""
    failures: list[BaseException] = []
    gate = threading.Barrier(len(work))

    def one(function: Callable[[], object]) -> None:
        try:
            gate.wait()
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(function,)) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures
