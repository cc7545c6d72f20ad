"""Vectors as text that Postgres reads, with every bit of a 32-bit float."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: From so many vectors on a space wants an HNSW index; below, comparing all is as fast.
INDEX_FROM = 10_000


def vector_literal(vector: Sequence[float]) -> str:
    """One vector: [0.1,0.2]."""
    return "[" + ",".join([f"{value:.9g}" for value in vector]) + "]"


def array_literal(vectors: Iterable[Sequence[float]]) -> str:
    """An array of vectors: {"[0.1,0.2]","[0.3,0.4]"}."""
    return '{"' + '","'.join([vector_literal(vector) for vector in vectors]) + '"}'
