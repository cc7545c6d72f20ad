"""How near sentences of hits are to a query: from stored vectors, what is missing computed once.

Fifty hits have some three hundred sentences, which take seconds to embed. What was embedded is
stored, so that no search pays again for a chunk that one has looked at.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError, RagpgError
from ragpg.ingest.embed import Failure, check_vectors, embed_texts
from ragpg.ingest.sentences import Unit, check_model, store_units
from ragpg.queries import SENTENCE_SCORES
from ragpg.sentence_units import sentence_units
from ragpg.steps import Flow, call, embed, embed_query, fetch
from ragpg.vectors import vector_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.types import Hit

#: Hits whose sentences are embedded together.
STEP = 10

#: Cosines of the best and the second best sentence; of one sentence the same twice.
Pair = tuple[float, float]


def sentence_cosines(
    query: str,
    hits: Sequence[Hit],
    embedder: Embedder | AsyncEmbedder | None,
    embedding: Sequence[float] | None = None,
    seconds: float | None = None,
) -> Flow[list[Pair | None]]:
    """The pair of each hit; None where no vectors are stored and none could be computed.

    `embedding` is the vector of the query, embedded here where it is None. What is not embedded
    after `seconds` has no pair. Raises ConfigError without embedding and embedder, ProviderError
    when the model fails.
    """
    began = time.perf_counter()
    if embedding is None:
        if embedder is None:
            raise ConfigError(
                "late interaction has no embedder", hint="Give the client an embedder."
            )
        embedding = yield from embed_query(embedder, query)
    stored = [hit for hit in hits if _has_chunk(hit)]
    known: dict[int | None, Pair] = {}
    if stored:
        rows = yield from fetch(
            SENTENCE_SCORES,
            {
                "embedding": vector_literal(embedding),
                "namespaces": sorted({hit.namespace for hit in stored}),
                "chunk_ids": [hit.chunk_id for hit in stored],
                "model": None if embedder is None else embedder.model,
            },
        )
        known = {row.chunk_id: (row.best, row.runner_up) for row in rows}
    found = [known.get(hit.chunk_id) if _has_chunk(hit) else None for hit in hits]
    missing = [place for place, pair in enumerate(found) if pair is None]
    for start in range(0, len(missing), STEP):
        left = None if seconds is None else seconds - (time.perf_counter() - began)
        if embedder is None or (left is not None and left <= 0):
            break
        places = missing[start : start + STEP]
        try:
            pairs = yield from _computed(
                [hits[place] for place in places], embedder, embedding, left
            )
        except TimeoutError:
            break
        for place, pair in zip(places, pairs, strict=True):
            found[place] = pair
    return found


def sentences_of(hits: Sequence[Hit]) -> list[tuple[int, Unit]]:
    """Every sentence of the hits, with the place of its hit."""
    return [
        (place, Unit(hit.chunk_id or 0, number, start, end, hit.content[start:end]))
        for place, hit in enumerate(hits)
        for number, (start, end) in enumerate(sentence_units(hit.content))
    ]


def pairs_of(
    hits: int, embedding: Sequence[float], vectors: Iterable[tuple[int, Sequence[float]]]
) -> list[Pair | None]:
    """The pair of each of so many hits, from vectors of sentences with the place of their hit."""
    cosines: list[list[float]] = [[] for _ in range(hits)]
    for place, vector in vectors:
        cosines[place].append(_cosine(embedding, vector))
    best = [sorted(one, reverse=True)[:2] for one in cosines]
    return [(one[0], one[-1]) if one else None for one in best]


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    product = _dot(first, second)
    length = math.sqrt(_dot(first, first) * _dot(second, second))
    return product / length if length else 0.0


def _computed(
    hits: Sequence[Hit],
    embedder: Embedder | AsyncEmbedder,
    embedding: Sequence[float],
    seconds: float | None,
) -> Flow[list[Pair | None]]:
    units = yield from call(sentences_of, hits)
    texts = [unit.text for _, unit in units]
    vectors: Sequence[list[float] | Failure]
    if seconds is None:
        vectors = yield from embed_texts(embedder, texts)
    else:
        # Within a time there is no asking again for the sake of a bad text.
        vectors = yield from embed(embedder, texts, seconds)
        check_vectors(texts, vectors, embedder.dimensions)
    good = [
        (place, unit, vector)
        for (place, unit), vector in zip(units, vectors, strict=True)
        if not isinstance(vector, Failure)
    ]
    kept: dict[str, list[tuple[Unit, Sequence[float]]]] = defaultdict(list)
    for place, unit, vector in good:
        if _has_chunk(hits[place]):
            kept[hits[place].namespace].append((unit, vector))
    for namespace, rows in sorted(kept.items()):
        # A reader may not write, and vectors of another model are not for this namespace: the
        # scores count all the same, and the next search computes them again.
        with suppress(RagpgError):
            yield from check_model(namespace, embedder)
            yield from store_units(namespace, rows)
    return pairs_of(len(hits), embedding, ((place, vector) for place, _, vector in good))


def _has_chunk(hit: Hit) -> bool:
    return hit.chunk_id is not None and hit.kind != "external"


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return sum([a * b for a, b in zip(first, second, strict=True)])
