"""Document -> chunks with exact offsets, lines and breadcrumbs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.ingest.build import ChunkBuilder, check_size, sections_to_cut
from ragpg.ingest.split import Span, split
from ragpg.ingest.tables import split_table, table_header
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.ingest.tokens import TokenLimit
    from ragpg.types import Chunk, Document

#: Most that WholeChunker puts into one chunk, in characters.
_WHOLE = 200_000


@dataclass(frozen=True, slots=True)
class HeadingChunker:
    """Cuts along headings, then at paragraphs, lines, sentences, words.

    A chunk has at most `size` characters, never crosses a section border and, where its section
    takes several chunks, repeats up to `overlap` characters of the one before. Code fences, tables
    and lists stay whole when they fit; a longer table is cut between rows and its header rows
    become the chunk's prefix. A section that is nothing but its heading joins the first section
    below it. What is embedded of a chunk keeps to `limit`, where one is given. Raises ConfigError
    when size < 1, overlap < 0 or overlap >= size.
    """

    size: int = 1000
    overlap: int = 200
    limit: TokenLimit | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        limit = f" limit={self.limit.tokens}" if self.limit else ""
        return f"heading/1 size={self.size} overlap={self.overlap}{limit}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build = ChunkBuilder(document, self.limit)
        for section in sections_to_cut(document):
            for span, prefix in self._spans(document, section):
                yield from build(span, section, prefix)

    def _spans(self, document: Document, section: Section) -> Iterator[tuple[Span, str]]:
        """Spans of one section: prose, and tables that are too long to stay whole."""
        text, start, end = document.text, section.start, section.end
        blocks = _within(document.blocks, start, end)
        if end - start > self.size:
            for first, last in blocks:
                if last - first <= self.size or first < start:
                    continue
                header = table_header(text, first, last)
                if header < 0:
                    continue
                for span in self._prose(text, start, first, blocks):
                    yield span, ""
                yield from split_table(text, first, last, header, self.size)
                start = last
        for span in self._prose(text, start, end, blocks):
            yield span, ""

    def _prose(self, text: str, start: int, end: int, blocks: Sequence[Span]) -> Iterator[Span]:
        return split(text, start, end, size=self.size, overlap=self.overlap, blocks=blocks)


@dataclass(frozen=True, slots=True)
class WholeChunker:
    """One chunk per document, for evaluation on sets whose documents are passages already.

    A document of more than 200,000 characters is cut there, at the best border.
    """

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"whole/1 size={_WHOLE}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """One chunk, or none for a document without visible text."""
        build = ChunkBuilder(document)
        whole = Section(0, len(document.text))
        for span in split(document.text, 0, len(document.text), size=_WHOLE, overlap=0):
            yield from build(span, whole)


def _within(blocks: Sequence[Span], start: int, end: int) -> list[Span]:
    """The blocks inside [start, end), in order."""
    return sorted(block for block in blocks if start <= block[0] and block[1] <= end)
