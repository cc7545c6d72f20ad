"""psql, Python, the command line, tools, MCP and the adapters of frameworks give the same list."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.testing import HashEmbedder
from ragpg.tools.search_tool import SearchTool
from ragpg.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from ragpg import AsyncClient, Client
    from ragpg.types import SearchResult

QUERY = "how long does a refund take"
FILTER = {"year": {"gte": 2023}}
TEXTS = [
    {"source": f"{n}.md", "text": text, "metadata": {"year": 2020 + n}}
    for n, text in enumerate(
        [
            "Refunds took 30 days once.",
            "A refund is paid to the card.",
            "Parcels leave on the day of the order.",
            "Refunds take 14 days.",
            "Gift cards never expire, and no refund is paid for them.",
            "How long a parcel takes depends on the country.",
        ]
    )
]

#: The same filter in the languages of the frameworks.
HAYSTACK_FILTER = {"field": "meta.year", "operator": ">=", "value": 2023}

SQL = """
select rank, source, chunk_id, score, arms
  from ragpg.search(%(query)s, %(embedding)s::text::vector, filter => %(filter)s::jsonb, k => 4)
"""


def _rows(result: SearchResult) -> list[tuple[Any, ...]]:
    return [
        (
            hit.rank,
            hit.source,
            hit.chunk_id,
            pytest.approx(hit.score),
            {name: (arm.rank, pytest.approx(arm.score)) for name, arm in hit.arms.items()},
        )
        for hit in result.hits
    ]


def _plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [
        (*row[:4], {name: (arm["rank"], arm["score"]) for name, arm in row[4].items()})
        for row in rows
    ]


def test_one_search_four_ways(ragpg_cli: Callable[..., Result], database: str) -> None:
    embedder = HashEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        sync = rag.search(QUERY, k=4, filter=FILTER, rerank=False)
        reranked = rag.search(QUERY, k=4, filter=FILTER)

    async def search() -> tuple[SearchResult, SearchResult]:
        async with ragpg.aconnect(database, embedder=embedder) as rag:
            return (
                await rag.search(QUERY, k=4, filter=FILTER, rerank=False),
                await rag.search(QUERY, k=4, filter=FILTER),
            )

    unordered, ordered = asyncio.run(search())
    assert unordered.hits == sync.hits
    assert ordered.hits == reranked.hits

    with psycopg.connect(database) as connection:
        embedding = str(embedder.embed_query(QUERY))
        values = {"query": QUERY, "embedding": embedding, "filter": json.dumps(FILTER)}
        in_sql = connection.execute(SQL, values).fetchall()
    assert len(in_sql) == 3
    assert _plain(in_sql) == _rows(sync)

    options = ["-k", "4", "--filter", json.dumps(FILTER), "--embedder", "hash", "--json"]
    for expected, extra in ((sync, ["--no-rerank"]), (reranked, [])):
        found = json.loads(ragpg_cli("search", QUERY, *options, *extra).stdout)
        rows = [
            (hit["rank"], hit["source"], hit["chunk_id"], hit["score"], hit["arms"])
            for hit in found["hits"]
        ]
        assert _plain(rows) == _rows(expected)


def test_profile_fast_is_the_search_of_psql(rag: Client, database: str) -> None:
    rag.ingest(texts=TEXTS)
    found = rag.search(QUERY, k=4, filter=FILTER, profile="fast")
    embedder: Any = rag.embedder
    with psycopg.connect(database) as connection:
        embedding = str(embedder.embed_query(QUERY))
        values = {"query": QUERY, "embedding": embedding, "filter": json.dumps(FILTER)}
        in_sql = connection.execute(SQL, values).fetchall()
    assert len(in_sql) == 3
    assert _plain(in_sql) == _rows(found)


Row = tuple[int, str, str, float]


def _surfaces(rag: Client) -> dict[str, list[Row]]:
    """What every synchronous surface finds, by its name: rank, source, text, score."""
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

    from ragpg.adapters.haystack import RagpgDocumentStore
    from ragpg.adapters.haystack_retriever import RagpgRetriever as HaystackRetriever
    from ragpg.adapters.langchain import RagpgRetriever as LangChainRetriever
    from ragpg.adapters.langchain_store import RagpgVectorStore
    from ragpg.adapters.llamaindex import RagpgRetriever as LlamaRetriever

    toolbox = Toolbox(rag, [SearchTool(["default"])])
    called = toolbox.call("knowledge_search", {"query": QUERY, "top_k": 4, "filter": FILTER})
    documents = LangChainRetriever(client=rag, k=4, filter=FILTER).invoke(QUERY)
    store = RagpgVectorStore(rag)
    scored = store.similarity_search_with_score(QUERY, k=4, filter=FILTER)
    year = MetadataFilter(key="year", value=2023, operator=">=")
    nodes = LlamaRetriever(
        rag, similarity_top_k=4, filter=MetadataFilters(filters=[year])
    ).retrieve(QUERY)
    haystack = HaystackRetriever(RagpgDocumentStore(client=rag), top_k=4)
    found = haystack.run(QUERY, filters=HAYSTACK_FILTER)["documents"]
    return {
        "toolbox": _tool_rows(json.loads(called)),
        "langchain retriever": [
            (one.metadata["rank"], one.metadata["source"], one.page_content, one.metadata["score"])
            for one in documents
        ],
        "langchain store": [
            (rank, str(one.id), one.page_content, score)
            for rank, (one, score) in enumerate(scored, 1)
        ],
        "llamaindex": [
            (one.metadata["rank"], one.metadata["source"], one.node.get_content(), one.score or 0)
            for one in nodes
        ],
        "haystack": [
            (one.meta["rank"], one.meta["source"], one.content, one.score) for one in found
        ],
    }


async def _awaited_surfaces(rag: AsyncClient) -> dict[str, list[Row]]:
    from mcp import Client as McpClient

    from ragpg.adapters.langchain import RagpgRetriever as LangChainRetriever
    from ragpg.adapters.llamaindex import RagpgRetriever as LlamaRetriever
    from ragpg.tools.mcp_server import build_server

    arguments = {"query": QUERY, "top_k": 4, "filter": FILTER}
    async with McpClient(build_server(rag, SearchTool(["default"]))) as client:
        answered: Any = await client.call_tool("knowledge_search", arguments)
    called = await Toolbox(rag, [SearchTool(["default"])]).acall("knowledge_search", arguments)
    documents = await LangChainRetriever(client=rag, k=4, filter=FILTER).ainvoke(QUERY)
    nodes = await LlamaRetriever(rag, similarity_top_k=4, filter=FILTER).aretrieve(QUERY)
    return {
        "async": _hit_rows(await rag.search(QUERY, k=4, filter=FILTER)),
        "mcp": _tool_rows(json.loads(answered.content[0].text)),
        "async toolbox": _tool_rows(json.loads(called)),
        "async langchain": [
            (one.metadata["rank"], one.metadata["source"], one.page_content, one.metadata["score"])
            for one in documents
        ],
        "async llamaindex": [
            (one.metadata["rank"], one.metadata["source"], one.node.get_content(), one.score or 0)
            for one in nodes
        ],
    }


def _hit_rows(result: SearchResult) -> list[Row]:
    return [(hit.rank, hit.source, hit.content, hit.score) for hit in result.hits]


def _tool_rows(answer: Any) -> list[Row]:
    return [(one["rank"], one["source"], one["content"], one["score"]) for one in answer["results"]]


def test_one_search_from_every_surface(ragpg_cli: Callable[..., Result], database: str) -> None:
    for extra in ("mcp", "langchain_core", "llama_index.core", "haystack"):
        pytest.importorskip(extra)
    embedder = HashEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(texts=TEXTS)
        expected = _hit_rows(rag.search(QUERY, k=4, filter=FILTER))
        found = _surfaces(rag)

    async def awaited() -> dict[str, list[Row]]:
        async with ragpg.aconnect(database, embedder=embedder) as rag:
            return await _awaited_surfaces(rag)

    found |= asyncio.run(awaited())
    options = ["-k", "4", "--filter", json.dumps(FILTER), "--embedder", "hash", "--json"]
    printed = json.loads(ragpg_cli("search", QUERY, *options).stdout)
    found["cli"] = [
        (hit["rank"], hit["source"], hit["content"], hit["score"]) for hit in printed["hits"]
    ]
    assert len(expected) == 3
    rounded: Any = [(*row[:3], pytest.approx(row[3], abs=1e-6)) for row in expected]
    for surface, rows in found.items():
        assert rows == rounded, surface
    assert len(found) == 11
