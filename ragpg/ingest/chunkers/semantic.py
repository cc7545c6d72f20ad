"""Chunks that end where the meaning of neighbouring sentences parts; opt-in, for it embeds them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.ingest.borders import sentence_starts
from ragpg.ingest.build import ChunkBuilder, check_size, sections_to_cut
from ragpg.ingest.split import skip_blank, split, trim_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.ingest.split import Span
    from ragpg.protocols import Embedder
    from ragpg.types import Chunk, Document

#: Sentences are found in stretches of so many characters.
_WINDOW = 20_000


@dataclass(frozen=True)
class SemanticChunker:
    """Embeds every sentence with its neighbours and cuts where the cosine distance to the next is
    among the greatest: above the `percentile` of the document's distances.

    Chunks have between `least` and `size` characters; what is longer is cut like any text. Never
    crosses a section border. The breakpoints of Kamradt (2023), over windows of three sentences.
    """

    embedder: Embedder
    size: int = 1500
    percentile: float = 85.0
    least: int = 200

    def __post_init__(self) -> None:
        check_size(self.size, self.least)
        if not 0 < self.percentile < 100:
            raise ConfigError(f"a percentile is between 0 and 100, not {self.percentile}")

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters and model."""
        return (
            f"semantic/1 size={self.size} least={self.least} percentile={self.percentile} "
            f"model={self.embedder.model}"
        )

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order. Raises ProviderError when the embedder fails."""
        build = ChunkBuilder(document)
        for section in sections_to_cut(document):
            sentences = list(_sentences(document.text, section.start, section.end))
            for span in self._spans(document.text, sentences):
                for part in split(document.text, *span, size=self.size, overlap=0):
                    yield from build(part, section)

    def _spans(self, text: str, sentences: Sequence[Span]) -> Iterator[Span]:
        if not sentences:
            return
        distances = self._distances(text, sentences)
        ranked = sorted(distances)
        bar = (
            ranked[min(int(len(ranked) * self.percentile / 100), len(ranked) - 1)] if ranked else 0
        )
        start = sentences[0][0]
        for (_, stop), (_, following), distance in zip(
            sentences, sentences[1:], distances, strict=False
        ):
            full = following - start > self.size
            if full or (distance >= bar and distance > 0 and stop - start >= self.least):
                yield start, stop
                start = stop
        yield start, sentences[-1][1]

    def _distances(self, text: str, sentences: Sequence[Span]) -> list[float]:
        """Cosine distance of each sentence, seen with its neighbours, to the next."""
        last = len(sentences) - 1
        windows = [
            text[sentences[max(at - 1, 0)][0] : sentences[min(at + 1, last)][1]]
            for at in range(len(sentences))
        ]
        if len(windows) < 2:
            return []
        vectors = self.embedder.embed_documents(windows)
        return [_distance(one, other) for one, other in pairwise(vectors)]


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """Spans of sentences that together cover [start, end) but for outer white space."""
    start, end = skip_blank(text, start, end), trim_blank(text, start, end)
    while start < end:
        stop = min(start + _WINDOW, end)
        starts = [start, *sentence_starts(text, start, stop)]
        if stop < end and len(starts) > 1:
            stop = starts.pop()  # it may go on behind the window
        yield from zip(starts, [*starts[1:], stop], strict=True)
        start = stop


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    scale = math.sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    return 1 - sum(x * y for x, y in zip(one, other, strict=True)) / scale if scale else 0.0
