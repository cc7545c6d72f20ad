"""Sentence vectors of a namespace: every chunk that has none yet gets them.

A chunk's text never changes under its id, so what is stored stays right; a new version of a
document costs the sentences of its new chunks. Interrupted, it goes on where it was.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragpg.errors import ConfigError, ProviderError
from ragpg.ingest.embed import Failure, embed_texts
from ragpg.observe.stage import observed
from ragpg.queries import NAMESPACE
from ragpg.queries_store import (
    CHUNKS_WITHOUT_SENTENCES,
    KEEP_SENTENCES,
    KEEPS_SENTENCES,
    STORE_SENTENCES,
    Unsplit,
)
from ragpg.sentence_units import sentence_units
from ragpg.steps import Flow, call, fetch, fetch_one
from ragpg.types import Usage
from ragpg.vectors import array_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder

#: Chunks of one step: their sentences are embedded and stored together.
STEP = 64


@dataclass(frozen=True, slots=True)
class SentenceReport:
    """What became of a namespace's sentences.

    `chunks` and `sentences` are new. `refused` sentences were not taken by the model. `complete`
    is false when the time was over before the chunks were. `usage` is what the embedder cost.
    """

    namespace: str
    chunks: int = 0
    sentences: int = 0
    refused: int = 0
    seconds: float = 0.0
    complete: bool = True
    usage: Usage = field(default_factory=Usage)


class Unit(NamedTuple):
    """A sentence of a chunk: its number, and its characters in the chunk's content."""

    chunk_id: int
    ordinal: int
    start: int
    end: int
    text: str


@observed("sentences", category="ingest")
def fill_sentences(
    namespace: str,
    embedder: Embedder | AsyncEmbedder | None,
    *,
    seconds: float | None = None,
    on_step: Callable[[SentenceReport], object] | None = None,
) -> Flow[SentenceReport]:
    """Embed and store the sentences of all chunks that have none; stop after so many seconds.

    From then on ingestion keeps them complete. `on_step` hears how far it is after every step.
    Raises NamespaceNotFound, ConfigError when the namespace has no vectors or those of another
    model, and ProviderError when the service fails: what was stored until then stays.
    """
    began = time.perf_counter()
    if embedder is None:
        raise ConfigError("sentence vectors need an embedder")
    yield from check_model(namespace, embedder)
    yield from fetch(KEEP_SENTENCES, {"namespace": namespace})
    report = SentenceReport(namespace)
    after = 0
    while True:
        chunks = yield from fetch(
            CHUNKS_WITHOUT_SENTENCES, {"namespace": namespace, "after": after, "k": STEP}
        )
        if not chunks:
            break
        after = chunks[-1].chunk_id
        stored, refused = yield from _store(namespace, embedder, chunks)
        report = SentenceReport(
            namespace,
            report.chunks + len(chunks),
            report.sentences + stored,
            report.refused + refused,
            time.perf_counter() - began,
            complete=len(chunks) < STEP,
        )
        if on_step is not None:
            on_step(report)
        if report.complete or (seconds is not None and report.seconds > seconds):
            break
    return report


def keeps_sentences(namespace: str) -> Flow[bool]:
    """Whether an ingest should complete the sentence vectors of a namespace."""
    found: bool = yield from fetch_one(KEEPS_SENTENCES, {"namespace": namespace})
    return found


def check_model(namespace: str, embedder: Embedder | AsyncEmbedder) -> Flow[None]:
    """Raises ConfigError unless the namespace was embedded with this model, NamespaceNotFound
    where there is none."""
    rows = yield from fetch(NAMESPACE, {"namespace": namespace})
    if not rows:
        # The function behind says so with a hint.
        yield from fetch(KEEPS_SENTENCES, {"namespace": namespace})
        return
    found = rows[0]
    if found.space_id is None:
        raise ConfigError(
            f"namespace {namespace} has no vectors, so its sentences cannot have any",
            hint="Ingest it with an embedder first.",
        )
    model, dimensions = yield from call(lambda: (embedder.model, embedder.dimensions))
    if (model, dimensions) != (found.model, found.dimensions):
        raise ConfigError(
            f"the embedder is {model} ({dimensions} dimensions), namespace {namespace} was "
            f"embedded with {found.model} ({found.dimensions})",
            hint="Use the model of the namespace, or ingest it anew.",
        )


def _store(
    namespace: str, embedder: Embedder | AsyncEmbedder, chunks: Sequence[Unsplit]
) -> Flow[tuple[int, int]]:
    units = yield from call(_units, chunks)
    try:
        found = yield from embed_texts(embedder, [unit.text for unit in units])
    except ProviderError as error:
        # A chunk counts as done as soon as it has one sentence: only whole ones are kept.
        gaps = {unit.chunk_id for place, unit in enumerate(units) if place not in error.partial}
        whole = [place for place, unit in enumerate(units) if unit.chunk_id not in gaps]
        yield from store_units(namespace, [(units[place], error.partial[place]) for place in whole])
        raise
    good = [
        (unit, one) for unit, one in zip(units, found, strict=True) if not isinstance(one, Failure)
    ]
    stored = yield from store_units(namespace, good)
    return stored, len(units) - len(good)


def store_units(namespace: str, rows: Sequence[tuple[Unit, Sequence[float]]]) -> Flow[int]:
    """Store vectors of sentences; how many are new."""
    if not rows:
        return 0
    stored: int = yield from fetch_one(
        STORE_SENTENCES,
        {
            "namespace": namespace,
            "chunk_ids": [unit.chunk_id for unit, _ in rows],
            "ordinals": [unit.ordinal for unit, _ in rows],
            "starts": [unit.start for unit, _ in rows],
            "ends": [unit.end for unit, _ in rows],
            "embeddings": array_literal(vector for _, vector in rows),
        },
    )
    return stored


def _units(chunks: Sequence[Unsplit]) -> list[Unit]:
    return [
        Unit(chunk.chunk_id, number, start, end, chunk.content[start:end])
        for chunk in chunks
        for number, (start, end) in enumerate(sentence_units(chunk.content))
    ]
