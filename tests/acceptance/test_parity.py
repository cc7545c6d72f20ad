"""psql, sync Python, async Python and the command line give the same list."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

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
