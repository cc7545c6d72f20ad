"""Texts to vectors that may be stored: what is sent, what is accepted, what one bad text costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from ragpg.errors import BadEmbedding, ProviderError, RagpgError
from ragpg.observe.stage import note_embedding
from ragpg.steps import Call, Embed, Flow, call, embed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.types import Chunk

#: The greatest number a halfvec holds.
_LARGEST = 65_504.0
#: The least positive one: what is below becomes 0.
_SMALLEST = 6e-8


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one text has no vector."""

    reason: str


def embedding_text(chunk: Chunk) -> str:
    """What is embedded of a chunk: its headings, then its text with the chunker's prefix."""
    content = chunk.prefix + chunk.content
    return f"{chunk.breadcrumb}\n{content}" if chunk.breadcrumb.strip() else content


def embedding_hash(text: str) -> bytes:
    """Key of a text in the embedding cache: BLAKE2b of its UTF-8, 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def check_vectors(
    texts: Sequence[str], vectors: Sequence[Sequence[float]], dimensions: int
) -> None:
    """Raises BadEmbedding, naming the position, unless every text has a vector of that length
    with finite numbers that are not all zero.

    A wrong count or length is about the whole service (`scope`). Otherwise the error is about one
    input and its `partial` holds the vectors that are good.
    """
    if len(vectors) != len(texts):
        raise BadEmbedding(f"{len(vectors)} vectors for {len(texts)} texts", scope="service")
    for index, vector in enumerate(vectors):
        if vector is not None and len(vector) != dimensions:
            raise BadEmbedding(
                f"the vector of text {index} has {len(vector)} dimensions, "
                f"its embedding space has {dimensions}",
                hint="The model changed. Choose the former model, or embed the documents again "
                "into a new embedding space.",
                scope="service",
            )
    bad = {index: why for index, vector in enumerate(vectors) if (why := _fault(vector))}
    if bad:
        index, why = next(iter(bad.items()))
        raise BadEmbedding(
            f"the vector of {f'text {index}' if len(texts) > 1 else 'the text'} {why}",
            scope="input",
            partial={i: list(vector) for i, vector in enumerate(vectors) if i not in bad},
        )


def embed_texts(
    embedder: Embedder | AsyncEmbedder,
    texts: Sequence[str],
    dimensions: int | None = None,
    tokens: list[int] | None = None,
    overlong: set[int] | None = None,
) -> Flow[list[list[float] | Failure]]:
    """A vector or a Failure for every text, in order, at the cost of the bad texts alone.

    Blank texts are not sent. A failing batch is sent again in halves until the bad text is found;
    nothing that arrived is asked for twice. When the failure is about the service and not about a
    text (nothing passes in either half, nor one text of each), the ProviderError is raised after
    at most five requests, with what did arrive as its `partial`, keyed by position. `tokens` gets
    what a service has counted, where it says so, `overlong` the positions of texts that the
    embedder had to take in parts.
    """
    if dimensions is None:
        dimensions = yield from call(getattr, embedder, "dimensions")
    work = _Work(
        embedder,
        texts,
        dimensions,
        [] if tokens is None else tokens,
        set() if overlong is None else overlong,
    )
    try:
        pending = [index for index, text in enumerate(texts) if text.strip()]
        if pending and (error := (yield from work.ask(pending))) is not None:
            yield from work.divide(pending, error)
    except ProviderError as error:
        error.partial = work.vectors
        raise
    return [
        work.vectors.get(index) or work.failures.get(index) or Failure("blank text")
        for index in range(len(texts))
    ]


def embed_resilient(
    embedder: Embedder, texts: Sequence[str], dimensions: int | None = None
) -> list[list[float] | Failure]:
    """Runs embed_texts with a sync embedder. Raises ProviderError, see there."""
    flow = embed_texts(embedder, texts, dimensions)
    try:
        step = next(flow)
        while True:
            try:
                if isinstance(step, Embed):
                    answer = embedder.embed_documents(step.texts)
                    note_embedding(embedder, answer)
                else:
                    assert isinstance(step, Call)
                    answer = step.function(*step.arguments)
            except Exception as error:
                step = flow.throw(error)
            else:
                step = flow.send(answer)
    except StopIteration as stop:
        result: list[list[float] | Failure] = stop.value
        return result


class _Work:
    """Vectors and failures found so far, by position."""

    def __init__(
        self,
        embedder: Embedder | AsyncEmbedder,
        texts: Sequence[str],
        dimensions: int,
        tokens: list[int],
        overlong: set[int],
    ) -> None:
        self.tokens = tokens
        self.overlong = overlong
        self.embedder = embedder
        self.texts = texts
        self.dimensions = dimensions
        self.vectors: dict[int, list[float]] = {}
        self.failures: dict[int, Failure] = {}

    def ask(self, group: Sequence[int]) -> Flow[ProviderError | None]:
        """Sends a group and keeps what is good; the error if something is missing. Raises an error
        that is about the service."""
        texts = [self.texts[index] for index in group]
        try:
            vectors = yield from embed(self.embedder, texts)
            self.tokens.append(getattr(vectors, "tokens", 0))
            self.overlong.update(group[place] for place in getattr(vectors, "overlong", ()))
            check_vectors(texts, vectors, self.dimensions)
            self._keep(group, dict(enumerate(vectors)))
        except ProviderError as error:
            self._keep(group, error.partial)
            if error.scope == "service":
                raise
            return error
        except RagpgError:
            raise
        except Exception as error:
            # An embedder of the user's own may raise anything for a text it cannot take.
            failure = ProviderError(f"{type(error).__name__}: {error}")
            failure.__cause__ = error
            return failure
        return None

    def divide(self, group: Sequence[int], error: ProviderError) -> Flow[None]:
        """Finds the bad texts of a group that failed with `error`."""
        if len(group) == 1:
            self.failures[group[0]] = Failure(error.message)
            return
        # What is left of a group is asked for again even if it is one text: alone it is told
        # exactly what is wrong with it, and may pass.
        group = [index for index in group if index not in self.vectors]
        middle = len(group) // 2
        failed: list[tuple[Sequence[int], ProviderError]] = []
        for part in (group[:middle], group[middle:]):
            fault = (yield from self.ask(part)) if part else None
            if fault is not None:
                failed.append((part, fault))
        if len(failed) == 2 and not self.vectors and error.scope != "input":
            yield from self._probe(failed)
        for half, fault in failed:
            yield from self.divide(half, fault)

    def _probe(self, failed: Sequence[tuple[Sequence[int], ProviderError]]) -> Flow[None]:
        """Raises unless one text of each half passes: of middling length, since the longest or
        the shortest one may be what the service cannot take."""
        if failed[0][1].message != failed[1][1].message:
            return
        for half, _ in failed:
            if len(half) > 1:
                by_length = sorted(half, key=lambda index: len(self.texts[index]))
                yield from self.ask([by_length[len(half) // 2]])
        if not self.vectors:
            raise failed[0][1]

    def _keep(self, group: Sequence[int], partial: Mapping[int, Sequence[float]]) -> None:
        for position, vector in partial.items():
            if len(vector) == self.dimensions and not _fault(vector):
                self.vectors[group[position]] = list(vector)


def _fault(vector: Sequence[float] | None) -> str | None:
    """What makes a vector unfit for storing, or None."""
    if vector is None:
        return "is null"
    try:
        total = sum(map(abs, vector))
    except TypeError:
        return "holds something that is no number"
    if not math.isfinite(total):
        return "holds NaN or infinity"
    if total < _SMALLEST * len(vector) and max(map(abs, vector)) < _SMALLEST:
        return "is all zero"
    if total > _LARGEST and max(map(abs, vector)) > _LARGEST:
        return f"holds a number beyond {_LARGEST:.0f}"
    return None
