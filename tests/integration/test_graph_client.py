"""The graph as a Python program uses it, sync and async."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import ragpg
from ragpg.graph.graph import AsyncGraph, Graph

if TYPE_CHECKING:
    from pathlib import Path

    from ragpg import Client

TEXTS = [
    {"source": "a.md", "text": "# Alpha\n\nSee [beta](b.md).", "format": "markdown"},
    {"source": "b.md", "text": "# Beta\n\nBack to [alpha](a.md).", "format": "markdown"},
    {"source": "c.md", "text": "# Gamma\n\nNothing leads here.", "format": "markdown"},
]


@pytest.fixture
def graph(rag: Client) -> Graph:
    rag.ingest(texts=TEXTS)
    return Graph(rag)


def test_around_status_and_analysis(graph: Graph) -> None:
    found = graph.around("a.md")
    assert "b.md" in {node.source for node in found.nodes}
    assert graph.status().documents == 3
    assert graph.analyse()
    graph.rebuild()
    assert graph.status().links == 2


def test_the_async_graph_gives_the_same(graph: Graph, database: str) -> None:
    async def run() -> tuple[int, int]:
        async with ragpg.aconnect(database) as rag:
            other = AsyncGraph(rag)
            await other.analyse()
            return (await other.status()).documents, len((await other.around("a.md")).nodes)

    assert asyncio.run(run()) == (3, len(graph.around("a.md").nodes))


def test_ingest_takes_patterns(rag: Client, tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "c.md"):
        (tmp_path / name).write_text(f"Text of {name}.")
    report = rag.ingest(tmp_path, include=["*.md"], exclude=["c*"])
    assert [file.source for file in report.files if file.status == "stored"] == ["a.md"]
