"""The graph as a Python program uses it, sync and async."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError
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


@pytest.mark.parametrize(
    ("method", "arguments", "named"),
    [
        ("around", {"start": 3}, "start"),
        ("around", {"start": "a.md", "k": 3_000_000_000}, "k must be"),
        ("around", {"start": "a.md", "hops": 1.5}, "hops"),
        ("around", {"start": "a.md", "most": 0}, "most"),
        ("rank", {"k": 3_000_000_000}, "k must be"),
        ("rank", {"sources": "a.md"}, "sources"),
        ("rank", {"sources": [3]}, "each of sources"),
        ("rank", {"query": 3}, "query"),
        ("cypher", {"query": 3}, "query"),
        ("cypher", {"query": "RETURN 1", "timeout": float("nan")}, "timeout"),
        ("cypher", {"query": "RETURN 1", "timeout": -5}, "timeout"),
        ("cypher", {"query": "RETURN 1", "params": [1]}, "params"),
        ("cypher", {"query": "RETURN $x", "params": {"x": {1, 2}}}, "params"),
    ],
)
def test_wrong_arguments_are_named(
    rag: Client, method: str, arguments: dict[str, Any], named: str
) -> None:
    rag.create_namespace("default")
    with pytest.raises(ConfigError, match=named):
        getattr(Graph(rag), method)(**arguments)


def test_the_async_graph_gives_the_same(graph: Graph, database: str) -> None:
    async def run() -> tuple[int, int]:
        async with ragpg.aconnect(database) as rag:
            other = AsyncGraph(rag)
            await other.analyse()
            return (await other.status()).documents, len((await other.around("a.md")).nodes)

    assert asyncio.run(run()) == (3, len(graph.around("a.md").nodes))


def test_documents_are_ranked_by_links_and_near_a_start(graph: Graph, database: str) -> None:
    assert graph.rank() == []
    graph.analyse()
    everywhere = graph.rank()
    assert {one.source for one in everywhere} == {"a.md", "b.md", "c.md"}
    assert sum(one.rank for one in everywhere) == pytest.approx(1, abs=1e-5)
    assert everywhere[0].community == everywhere[1].community
    near = graph.rank(sources=["a.md"])
    assert [one.source for one in near] == ["a.md", "b.md"]
    assert [one.source for one in graph.rank(query="gamma", k=1)] == ["c.md"]
    with pytest.raises(ConfigError, match=r"there is no document \"none.md\""):
        graph.rank(sources=["none.md"])
    with pytest.raises(ConfigError, match="hops"):
        graph.rank(sources=["a.md"], hops=6)

    async def run() -> list[str]:
        async with ragpg.aconnect(database) as rag:
            return [one.source for one in await AsyncGraph(rag).rank(sources=["a.md"])]

    assert asyncio.run(run()) == ["a.md", "b.md"]


def test_a_search_goes_two_steps_where_it_is_asked_to(rag: Client, database: str) -> None:
    chain = [
        {"source": "a.md", "text": "Zirconium: see [b](b.md).", "format": "markdown"},
        {"source": "b.md", "text": "Rutile: see [c](c.md).", "format": "markdown"},
        {"source": "c.md", "text": "Gypsum hardens.", "format": "markdown"},
    ]
    rag.ingest(texts=chain)
    arms: dict[str, Any] = {"vector": False, "graph": {"hops": 2}}
    found = rag.search("zirconium", arms=arms, rerank=False)
    assert [hit.source for hit in found.hits] == ["a.md", "b.md", "c.md"]
    assert found.hits[2].arms["graph"].mode == "a.md links here (b.md), b.md links here"
    near = rag.search("zirconium", arms={"vector": False}, rerank=False)
    assert [hit.source for hit in near.hits] == ["a.md", "b.md"]

    async def run() -> list[str]:
        profile = ragpg.Profile(arms=arms)
        async with ragpg.aconnect(database) as other:
            result = await other.search("zirconium", profile=profile, rerank=False)
            return [hit.source for hit in result.hits]

    assert asyncio.run(run()) == ["a.md", "b.md", "c.md"]
    with pytest.raises(ConfigError, match="hops"):
        rag.search("zirconium", arms={"graph": {"hops": 3}})


def test_ingest_takes_patterns(rag: Client, tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "c.md"):
        (tmp_path / name).write_text(f"Text of {name}.")
    report = rag.ingest(tmp_path, include=["*.md"], exclude=["c*"])
    assert [file.source for file in report.files if file.status == "stored"] == ["a.md"]


def test_a_question_about_the_whole_corpus_without_reports_says_so(
    graph: Graph, database: str
) -> None:
    graph.analyse()
    found = graph._rag.search_global("what is this about?")
    assert found.answer is None
    assert found.notes

    async def run() -> object:
        async with ragpg.aconnect(database) as rag:
            return (await rag.search_global("what is this about?")).notes

    assert asyncio.run(run()) == found.notes


def test_a_vector_alone_is_a_search(rag: Client) -> None:
    rag.ingest(texts=TEXTS)
    vector = rag.embedder.embed_query("Alpha")  # type: ignore[union-attr]
    assert rag.search("", embedding=vector, arms=["vector"]).hits
