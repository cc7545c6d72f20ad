"""Source code cut between definitions: by syntax where a parser is there, else by indentation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.ingest.build import ChunkBuilder, check_size
from ragpg.ingest.chunkers.syntax import Border, Scope, borders_of
from ragpg.ingest.split import skip_blank, split, trim_blank
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.ingest.split import Span
    from ragpg.ingest.tokens import TokenLimit
    from ragpg.types import Chunk, Document

#: A span is filled to this part before the outermost border in the rest of its window is taken; to
#: the lower one where a border lies there that is further outside than all that follow.
_LEAST_FILL = 1 / 3
_LEAST_TAIL = 1 / 20


@dataclass(frozen=True, slots=True)
class CodeChunker:
    """Up to `size` characters of whole lines, cut at the outermost definitions, no overlap.

    The breadcrumb names the class and function that hold a chunk. The language is the document's
    `metadata.language`: Python is always parsed, others with the extra `code`; the rest is cut by
    blank lines and indentation. Comments and decorators stay with what they are about.
    """

    size: int = 1000
    limit: TokenLimit | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_size(self.size)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"code/1 size={self.size}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build = ChunkBuilder(document, self.limit)
        text = document.text
        borders, scopes = borders_of(text, str(document.metadata.get("language") or ""))
        for start, end in _spans(text, borders, self.size):
            yield from build((start, end), Section(start, end, _path(scopes, start, end)))


def _spans(text: str, borders: Sequence[Border], size: int) -> Iterator[Span]:
    places = [border.start for border in borders]
    start, end = skip_blank(text, 0, len(text)), trim_blank(text, 0, len(text))
    while end - start > size:
        high = bisect_left(places, start + size + 1)
        best = _outermost(borders, bisect_right(places, start + int(size * _LEAST_FILL)), high)
        early = _outermost(borders, bisect_right(places, start + int(size * _LEAST_TAIL)), high)
        if best is None or (early is not None and borders[early].depth < borders[best].depth):
            best = early
        if best is None:
            # Nothing to cut at: up to the next border it is text like any other.
            stop = places[high] if high < len(places) else end
            parts = list(split(text, start, stop, size=size, overlap=0))
            last = parts.pop() if len(parts) > 1 and stop < end else None
            yield from parts
            start = last[0] if last else skip_blank(text, stop, end)
            continue
        stop = places[best]
        yield start, trim_blank(text, start, stop)
        start = skip_blank(text, stop, end)
    if start < end:
        yield start, end


def _outermost(borders: Sequence[Border], low: int, high: int) -> int | None:
    """Which of borders[low:high] is the outermost, and of those the last."""
    return min(range(low, high), key=lambda at: (borders[at].depth, -at), default=None)


def _path(scopes: Sequence[Scope], start: int, end: int) -> tuple[str, ...]:
    """Names of the definitions around all of a span, from the outside."""
    return tuple(scope.name for scope in scopes if scope.start <= start and end <= scope.end)
