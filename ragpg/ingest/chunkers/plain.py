"""Chunkers that look at characters only: recursive borders, fixed lengths, a separator."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.ingest.borders import grapheme_border_before
from ragpg.ingest.build import ChunkBuilder, check_size
from ragpg.ingest.split import split
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.ingest.split import Span
    from ragpg.types import Chunk, Document


class SectionFinder:
    """The section that a character is in, for chunkers that cut across headings."""

    def __init__(self, document: Document) -> None:
        self._sections = list(document.sections) or [Section(0, len(document.text))]
        self._starts = [section.start for section in self._sections]

    def __call__(self, position: int) -> Section:
        return self._sections[max(0, bisect_right(self._starts, position) - 1)]


@dataclass(frozen=True, slots=True)
class RecursiveChunker:
    """Cuts at paragraphs, else lines, sentences, words, whatever the headings: chunks are filled up
    to `size` characters across section borders, and repeat up to `overlap` of the one before.

    The breadcrumb is that of the section in which a chunk begins. Raises ConfigError, see
    check_size.
    """

    size: int = 1000
    overlap: int = 200

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"recursive/1 size={self.size} overlap={self.overlap}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build, section = ChunkBuilder(document), SectionFinder(document)
        text = document.text
        for span in split(
            text, 0, len(text), size=self.size, overlap=self.overlap, blocks=document.blocks
        ):
            yield from build(span, section(span[0]))


@dataclass(frozen=True, slots=True)
class FixedChunker:
    """Cuts every `size` characters, at the last border of a visible character before; each chunk
    repeats `overlap` characters. Joined without overlap the chunks give the text back, but for
    stretches without ink."""

    size: int = 1000
    overlap: int = 0

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"fixed/1 size={self.size} overlap={self.overlap}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build, section = ChunkBuilder(document), SectionFinder(document)
        for span in self._spans(document.text):
            yield from build(span, section(span[0]))

    def _spans(self, text: str) -> Iterator[Span]:
        start, floor, end = 0, 0, len(text)
        while floor < end:
            limit = start + self.size
            stop = end if limit >= end else grapheme_border_before(text, floor, limit)
            if stop <= floor:
                # The overlap leaves no room for the next visible character, or it is too long.
                stop = min(floor + self.size, end)
                start = floor
            yield start, stop
            floor = stop
            back = max(stop - self.overlap, start + 1)
            border = grapheme_border_before(text, start, back)
            start = border if border > start else stop


@dataclass(frozen=True, slots=True)
class SeparatorChunker:
    """One chunk for each piece between separators, which belong to no chunk. `regex` takes the
    separator as a regular expression. A piece of more than `size` characters is cut like any text.

    Raises ConfigError for an empty or malformed separator.
    """

    separator: str = "\n\n"
    regex: bool = False
    size: int = 4000

    def __post_init__(self) -> None:
        check_size(self.size)
        try:
            if re.compile(self._pattern).fullmatch(""):
                raise ConfigError("a chunker cannot cut at an empty separator")
        except re.error as error:
            raise ConfigError(f"the separator {self.separator!r} is malformed: {error}") from error

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"separator/1 {self.separator!r} regex={self.regex} size={self.size}"

    @property
    def _pattern(self) -> str:
        return self.separator if self.regex else re.escape(self.separator)

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build, section = ChunkBuilder(document), SectionFinder(document)
        text, start = document.text, 0
        ends = [(match.start(), match.end()) for match in re.finditer(self._pattern, text)]
        for stop, following in [*ends, (len(text), len(text))]:
            for span in split(text, start, stop, size=self.size, overlap=0):
                yield from build(span, section(span[0]))
            start = following
