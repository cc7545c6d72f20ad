"""Late interaction as a re-ordering: hits by the best of their sentences."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.rerankers.sentence_cosines import pairs_of, sentence_cosines, sentences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.ingest.sentences import Unit
    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.rerankers.chain import Search
    from ragpg.steps import Flow
    from ragpg.types import Hit


class LateInteractionReranker:
    """Moves hits by their best sentence (MaxSim); the earlier rank stays the prior.

    The score is 40 / (40 + rank - 1) + weight * MaxSim, which goes from 0 (the lowest of the list)
    to 1. In a search the sentence arm's scores are used where it had that arm, else the vectors
    that the database holds; `embedder` embeds the sentences of the other hits, which are stored, so
    that the next search pays nothing for them. Without an embedder such a hit counts by the cosine
    of its whole chunk. Outside of a search the embedder embeds everything. The list of the sentence
    arm is the better way: see docs/decisions/second-look.md for both, measured.

    runner_up   share of the second best sentence in MaxSim
    candidates  so many hits are looked at: the rest stays behind them
    """

    name = "late"

    def __init__(
        self,
        embedder: Embedder | AsyncEmbedder | None = None,
        *,
        weight: float = 0.1,
        runner_up: float = 0.0,
        candidates: int = 50,
        timeout: float | None = None,
    ) -> None:
        if not 0 <= runner_up <= 1 or not weight >= 0 or candidates < 1:
            raise ConfigError(
                "runner_up is between 0 and 1, weight 0 or more, candidates 1 or more"
            )
        self.candidates = candidates
        self.timeout = timeout
        self._embedder: Any = embedder
        self._weight = weight
        self._runner_up = runner_up

    def flow(self, query: str, hits: Sequence[Hit], search: Search) -> Flow[list[Hit]]:
        """As rerank, in steps of a search, with the vector of the query where it has one.

        After the time of the stage no further sentences are embedded.
        """
        head = hits[: self.candidates]
        known = _stored(head)
        if known is None:
            pairs = yield from sentence_cosines(
                query, head, self._embedder, search.embedding, search.timeout
            )
            known = [
                _cosine_of(hit) if pair is None else self._blend(*pair)
                for hit, pair in zip(head, pairs, strict=True)
            ]
        return self._ordered(hits, known)

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, best first. Raises ConfigError without stored scores and without an embedder,
        ProviderError when the embedder fails."""
        head = hits[: self.candidates]
        known = _stored(head)
        if known is None:
            units = sentences_of(head)
            asked = self._method("embed_query")(query)
            vectors = self._method("embed_documents")([unit.text for _, unit in units])
            known = self._scores(len(head), units, asked, vectors)
        return self._ordered(hits, known)

    async def arerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """As rerank, awaited."""
        head = hits[: self.candidates]
        known = _stored(head)
        if known is None and not hasattr(self._embedder, "aembed_documents"):
            return await asyncio.to_thread(self.rerank, query, hits)
        if known is None:
            units = sentences_of(head)
            asked = await self._embedder.aembed_query(query)
            vectors = await self._embedder.aembed_documents([unit.text for _, unit in units])
            known = self._scores(len(head), units, asked, vectors)
        return self._ordered(hits, known)

    def _method(self, name: str) -> Any:
        found = getattr(self._embedder, name, None)
        if found is None:
            raise ConfigError(
                "late interaction found no stored sentence vectors and has no embedder",
                hint="Switch the sentence arm on and run `ragpg sentences`, or give an embedder.",
            )
        return found

    def _scores(
        self,
        count: int,
        units: Sequence[tuple[int, Unit]],
        asked: Sequence[float],
        vectors: Sequence[Sequence[float]],
    ) -> list[float | None]:
        places = (place for place, _ in units)
        pairs = pairs_of(count, asked, zip(places, vectors, strict=True))
        return [None if pair is None else self._blend(*pair) for pair in pairs]

    def _blend(self, best: float, second: float) -> float:
        return (1 - self._runner_up) * best + self._runner_up * second

    def _ordered(self, hits: Sequence[Hit], known: Sequence[float | None]) -> list[Hit]:
        numbers = [one for one in known if one is not None]
        low, high = min(numbers, default=0.0), max(numbers, default=0.0)
        span = (high - low) or 1.0
        scored = []
        for place, hit in enumerate(hits):
            score = 40 / (40 + place)
            value = known[place] if place < len(known) else None
            if value is not None:
                score += self._weight * (value - low) / span
            # What was not looked at stays behind the rest.
            scored.append((place >= len(known), -score, place, hit))
        scored.sort(key=lambda one: one[:3])
        return [
            replace(hit, rank=rank, score=-score, score_kind=self.name)
            for rank, (_, score, _, hit) in enumerate(scored, start=1)
        ]


def _stored(hits: Sequence[Hit]) -> list[float | None] | None:
    """The sentence arm's scores; None where the search had none."""
    found = [hit.arms.get("sentence") for hit in hits]
    if not any(found):
        return None
    return [None if one is None else one.score for one in found]


def _cosine_of(hit: Hit) -> float | None:
    """Of the whole chunk, where the vector arm found it."""
    found = hit.arms.get("vector")
    return None if found is None else found.score
