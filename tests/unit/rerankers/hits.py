"""Hits for the tests of rerankers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.perform import perform_rerank
from ragpg.rerankers.chain import rerank_hits
from ragpg.steps import run
from ragpg.types import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.rerankers.chain import AnyReranker
    from ragpg.types import ArmReport

FRUITS = ("apples", "bolts", "cranes", "drums", "eels")


def hits_of(*texts: str) -> list[Hit]:
    """A hit a text, in order, with falling fused scores."""
    return [
        Hit(
            rank=rank,
            score=1 / rank,
            namespace="default",
            source=f"{rank}.md",
            content=text,
            chunk_id=rank,
        )
        for rank, text in enumerate(texts, start=1)
    ]


def texts_of(hits: list[Hit]) -> list[str]:
    """The texts in order; the ranks must count."""
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [hit.content for hit in hits]


def reranked(reranker: AnyReranker, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], ArmReport]:
    """The hits as a search gets them, and the report: of several stages the first that failed,
    else the last."""
    done = run(rerank_hits(reranker, query, hits), perform_rerank)
    reports = list(done.report.values())
    return done.hits, next((one for one in reports if one.error), reports[-1])
