"""Documents put into the queue by the client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import ragpg
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from ragpg import Client


def test_both_clients_fill_the_queue(rag: Client, database: str) -> None:
    report = rag.enqueue(texts=[("a.md", "One."), ("b.md", "Two.")], namespace="q")
    assert [job.source for job in report.jobs] == ["a.md", "b.md"]

    async def run() -> int:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as other:
            return len((await other.enqueue(texts=[("c.md", "Three.")], namespace="q")).jobs)

    assert asyncio.run(run()) == 1
