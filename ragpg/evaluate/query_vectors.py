"""Vectors of an evaluation's queries: computed once for all rungs, and kept for the next run.

They are in the database's embedding cache, under a hash that no chunk has.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ragpg.queries import CACHED_VECTORS, NAMESPACE
from ragpg.queries_store import CACHE
from ragpg.steps import Flow, fetch, fetch_one
from ragpg.vectors import array_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.protocols import Embedder

_BATCH = 500


class RememberingEmbedder:
    """An embedder that keeps the vectors of queries: a rung does not pay for what another asked.

    Documents go through. `queries` holds the vectors by text.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.queries: dict[str, list[float]] = {}

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self.embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts, computed anew."""
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, computed at its first use."""
        if text not in self.queries:
            self.queries[text] = self.embedder.embed_query(text)
        return self.queries[text]

    def reads(self, text: str) -> float:
        """How much of a text the model can read, where it says so."""
        reads = getattr(self.embedder, "reads", None)
        return 1.0 if reads is None else float(reads(text))


def warm(
    embedder: RememberingEmbedder,
    texts: Sequence[str],
    namespace: str,
    *,
    keep: bool = True,
    on_text: Callable[[], object] | None = None,
) -> Flow[int]:
    """Fill the embedder's memory with the vectors of these queries, from the cache of the
    namespace's space where they are there; `keep` writes the others there. Returns how many were
    new."""
    [found] = yield from fetch(NAMESPACE, {"namespace": namespace})
    missing = [text for text in dict.fromkeys(texts) if text not in embedder.queries]
    same = (found.model, found.dimensions) == (embedder.model, embedder.dimensions)
    space = found.space_id if same else None
    if space is not None:
        yield from _read(embedder, missing, space)
    new = 0
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        computed = [text for text in batch if text not in embedder.queries]
        for text in batch:
            embedder.embed_query(text)
            if on_text is not None:
                on_text()
        new += len(computed)
        if space is not None and keep and computed:
            yield from fetch_one(
                CACHE,
                {
                    "space_id": space,
                    "hashes": [_hash(text) for text in computed],
                    "embeddings": array_literal(embedder.queries[text] for text in computed),
                },
            )
    return new


def _read(embedder: RememberingEmbedder, texts: Sequence[str], space_id: int) -> Flow[None]:
    for start in range(0, len(texts), _BATCH):
        batch = {_hash(text): text for text in texts[start : start + _BATCH]}
        rows = yield from fetch(CACHED_VECTORS, {"space_id": space_id, "hashes": list(batch)})
        for key, vector in rows:
            embedder.queries[batch[bytes(key)]] = list(vector)


def _hash(text: str) -> bytes:
    return hashlib.sha256(f"query\0{text}".encode("utf-8", "surrogatepass")).digest()
