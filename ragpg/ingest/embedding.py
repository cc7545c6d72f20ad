"""The embed stage on the database's cache: every text is paid for once, by one worker.

A hash is cached, ours to compute (claimed), or being computed by another worker (busy).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.errors import ProviderError, RagpgError
from ragpg.ingest.embed import Failure, embed_texts
from ragpg.prices import cost_of
from ragpg.queries_store import CACHE, CLAIM, RELEASE
from ragpg.steps import Flow, Sleep, fetch, together
from ragpg.vectors import array_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.ingest.prepare import Prepared
    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.types import Usage

#: Texts for which a claim is held at a time; the embedder does its own batching within.
CLAIM_SIZE = 128
#: Pauses while another worker computes, in seconds: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


@dataclass(slots=True)
class Space:
    """Where vectors go. `down` is why the service failed: it is not asked again in this run.
    `tokens` are those of its answers."""

    embedder: Embedder | AsyncEmbedder
    model: str
    dimensions: int
    id: int | None
    down: ProviderError | None = None
    tokens: list[int] = field(default_factory=list)

    def usage(self, prices: str | None = None) -> Usage:
        """Tokens so far, where the service counts them, and their cost; see ragpg.prices."""
        return cost_of(self.model, sum(self.tokens), prices)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A group of documents. `vectors` are the hashes in the cache, `owner` the source for which a
    hash was computed now, `overlong` those of them that the model took in parts, `refused` why a
    text has no vector, `failed` why a document must wait; `beside` are the hashes in the cache of
    the spaces that are filled beside, by their ids."""

    documents: Sequence[Prepared]
    vectors: set[bytes] = field(default_factory=set)
    owner: dict[bytes, str] = field(default_factory=dict)
    overlong: set[bytes] = field(default_factory=set)
    refused: dict[bytes, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    beside: dict[int, set[bytes]] = field(default_factory=dict)


@dataclass(slots=True)
class Vectors:
    """What became of texts by their hashes: `vectors` are in the cache, of which `computed` were
    made now, and `overlong` ones of these in parts; `refused` says why the model gave none."""

    vectors: set[bytes] = field(default_factory=set)
    computed: set[bytes] = field(default_factory=set)
    overlong: set[bytes] = field(default_factory=set)
    refused: dict[bytes, str] = field(default_factory=dict)


def embed_hashes(texts: Mapping[bytes, str], space: Space, ttl: float) -> Flow[Vectors]:
    """Put the vectors of texts, given by their hashes, into the cache, computing what is not there.

    Where the service fails, `space.down` says why, and what is missing is in neither set. Claims
    that are not fulfilled are released.
    """
    done = Vectors()
    work = _Work(space, texts, done, ttl)
    keys = list(texts)
    parts = deque(keys[start : start + CLAIM_SIZE] for start in range(0, len(keys), CLAIM_SIZE))
    # A service answers several requests at once; how many is a matter of the embedder.
    lanes = min(len(parts), getattr(space.embedder, "parallel_requests", 1))
    if lanes > 1:
        outcomes = yield from together(*(work.lane(parts) for _ in range(lanes)))
        for outcome in outcomes:
            outcome.take()
    else:
        yield from work.lane(parts)
    yield from work.wait()
    return done


def embed_group(group: Sequence[Prepared], space: Space | None, ttl: float) -> Flow[Embedded]:
    """Put the vectors of a group's chunks into the cache, computing what is not there.

    A document whose chunks could not all be embedded because the service failed is in `failed`;
    one with a text that the model refuses is not. Claims that are not fulfilled are released.
    """
    done = Embedded(group)
    if space is None or space.id is None:
        return done
    texts: dict[bytes, str] = {}
    sources: dict[bytes, str] = {}
    for one in group:
        if one.staged is not None:
            for key, text in zip(one.staged.hashes, one.texts, strict=True):
                texts.setdefault(key, text)
                sources.setdefault(key, one.item.source)
    found = yield from embed_hashes(texts, space, ttl)
    done.vectors.update(found.vectors)
    done.refused.update(found.refused)
    done.overlong.update(found.overlong)
    done.owner.update((key, sources[key]) for key in found.computed)
    if space.down is not None:
        for one in group:
            missing = one.staged is not None and any(
                key not in done.vectors and key not in done.refused for key in one.staged.hashes
            )
            if missing:
                done.failed[one.item.source] = f"it could not be embedded: {space.down.message}"
    return done


class _Work:
    def __init__(self, space: Space, texts: Mapping[bytes, str], done: Vectors, ttl: float) -> None:
        self.space = space
        self.texts = texts
        self.done = done
        self.ttl = ttl
        self.busy: list[bytes] = []

    def lane(self, parts: deque[list[bytes]]) -> Flow[None]:
        """Take parts until none is left; several lanes share them."""
        while True:
            try:
                part = parts.popleft()
            except IndexError:
                return
            yield from self.take(part)

    def take(self, keys: Sequence[bytes]) -> Flow[None]:
        """Claim hashes, compute what is ours, remember what another worker computes."""
        rows = yield from fetch(
            CLAIM, {"space_id": self.space.id, "hashes": list(keys), "ttl": self.ttl}
        )
        state = {row.hash: row.state for row in rows}
        self.done.vectors.update(key for key in keys if state[key] == "cached")
        self.busy += [key for key in keys if state[key] == "busy"]
        claimed = [key for key in keys if state[key] == "claimed"]
        if claimed:
            yield from self._compute(claimed)

    def wait(self) -> Flow[None]:
        """Ask again for what others compute, until it is there or their claims have lapsed."""
        pause = FIRST_PAUSE
        while self.busy and self.space.down is None:
            yield Sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            keys, self.busy = self.busy, []
            before = len(keys)
            for start in range(0, before, CLAIM_SIZE):
                yield from self.take(keys[start : start + CLAIM_SIZE])
            if len(self.busy) < before:
                pause = FIRST_PAUSE

    def _compute(self, keys: Sequence[bytes]) -> Flow[None]:
        open_claims = set(keys)
        try:
            if self.space.down is not None:
                return
            overlong: set[int] = set()
            try:
                found = yield from embed_texts(
                    self.space.embedder,
                    [self.texts[key] for key in keys],
                    self.space.dimensions,
                    self.space.tokens,
                    overlong,
                )
            except ProviderError as error:
                yield from self._keep(keys, error.partial, open_claims)
                if _is_misfit(error):
                    raise
                self.space.down = error
                return
            self.done.overlong.update(keys[place] for place in overlong)
            vectors: dict[int, list[float]] = {}
            for place, one in enumerate(found):
                if isinstance(one, Failure):
                    self.done.refused[keys[place]] = one.reason
                else:
                    vectors[place] = one
            yield from self._keep(keys, vectors, open_claims)
        except GeneratorExit:
            # Nobody drives this flow any more, so nothing can be asked for.
            open_claims.clear()
            raise
        finally:
            # Also when we are interrupted: nobody should have to wait for the claims to lapse.
            if open_claims:
                yield from self._release(sorted(open_claims))

    def _keep(
        self, keys: Sequence[bytes], vectors: Mapping[int, list[float]], open_claims: set[bytes]
    ) -> Flow[None]:
        kept = [keys[place] for place in vectors]
        if kept:
            yield from fetch(
                CACHE,
                {
                    "space_id": self.space.id,
                    "hashes": kept,
                    "embeddings": array_literal(vectors.values()),
                },
            )
        self.done.vectors.update(kept)
        self.done.computed.update(kept)
        open_claims.difference_update(kept)

    def _release(self, keys: Sequence[bytes]) -> Flow[None]:
        try:
            yield from fetch(RELEASE, {"space_id": self.space.id, "hashes": list(keys)})
        except RagpgError:
            # The claims lapse by themselves; what went wrong before matters more.
            return


def _is_misfit(error: ProviderError) -> bool:
    """Whether the model gives other vectors than the space takes: no retry will mend that."""
    from ragpg.errors import BadEmbedding

    return isinstance(error, BadEmbedding) and error.scope == "service"
