"""Hits for the tests of rerankers."""

from __future__ import annotations

from ragpg.types import Hit

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
