"""Document -> chunks with exact offsets, lines and breadcrumbs."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.ingest.clean import clean_name, is_blank
from ragpg.ingest.split import Span, split
from ragpg.ingest.tables import split_table, table_header
from ragpg.types import Chunk, Document, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A heading longer than this is a paragraph that someone marked up as one.
_CRUMB_LENGTH = 200
#: Most that WholeChunker puts into one chunk, in characters.
_WHOLE = 200_000

#: A line of punctuation under or over a heading.
_ADORNMENT = re.compile(r"[ \t]*([^\w\s])\1*[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class HeadingChunker:
    """Cuts along headings, then at paragraphs, lines, sentences, words.

    A chunk has at most `size` characters, never crosses a section border and, where its section
    takes several chunks, repeats up to `overlap` characters of the one before. Code fences, tables
    and lists stay whole when they fit; a longer table is cut between rows and its header rows
    become the chunk's prefix. A section that is nothing but its heading joins the first section
    below it. Raises ConfigError when size < 1, overlap < 0 or overlap >= size.
    """

    size: int = 1000
    overlap: int = 200

    def __post_init__(self) -> None:
        integers = all(type(value) is int for value in (self.size, self.overlap))
        if not integers or not 0 <= self.overlap < self.size:
            raise ConfigError(
                f"a chunker cannot work with size={self.size!r} and overlap={self.overlap!r}",
                hint="Use whole numbers with size >= 1 and 0 <= overlap < size.",
            )

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"heading/1 size={self.size} overlap={self.overlap}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        build = _Builder(document)
        for section in _sections(document):
            crumb = breadcrumb(document, section.path)
            for span, prefix in self._spans(document, section):
                yield from build(span, crumb, prefix)

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
        build = _Builder(document)
        for span in split(document.text, 0, len(document.text), size=_WHOLE, overlap=0):
            yield from build(span, breadcrumb(document, ()), "")


def breadcrumb(document: Document, path: Sequence[str]) -> str:
    """Title (or else file name) and heading path joined by " > ", without repeats in a row."""
    title = clean_name(document.title) or document.source.rstrip("/").rpartition("/")[2]
    crumbs: list[str] = []
    for part in (title, *path):
        crumb = clean_name(part)
        if len(crumb) > _CRUMB_LENGTH:
            crumb = crumb[: _CRUMB_LENGTH - 1].rstrip() + "…"
        if crumb and (not crumbs or crumb.casefold() != crumbs[-1].casefold()):
            crumbs.append(crumb)
    return " > ".join(crumbs)


class _Builder:
    """Turns spans into chunks: numbers them, finds lines and pages, drops what has no ink."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.ordinal = 0
        self.line_starts = [0]
        for line in document.text.split("\n"):
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)

    def __call__(self, span: Span, crumb: str, prefix: str) -> Iterator[Chunk]:
        document, (start, end) = self.document, span
        content = document.text[start:end]
        if is_blank(content):
            return
        yield Chunk(
            ordinal=self.ordinal,
            content=content,
            start_char=start,
            end_char=end,
            start_line=self.line(start),
            end_line=self.line(end - 1),
            breadcrumb=crumb,
            prefix=prefix,
            page=bisect_right(document.pages, start) or None,
        )
        self.ordinal += 1

    def line(self, position: int) -> int:
        return bisect_right(self.line_starts, position) + self.document.line_offset


def _sections(document: Document) -> Iterator[Section]:
    """The sections in order, with bare headings joined to what stands below them."""
    if not document.sections:
        yield Section(0, len(document.text))
        return
    bare: Section | None = None
    for section in document.sections:
        is_bare = _is_bare(document.text, section)
        if bare and section.path[: len(bare.path)] == bare.path:
            section = Section(bare.start, section.end, section.path)
        elif bare:
            yield bare
        bare = section if is_bare else None
        if not bare:
            yield section
    if bare:
        yield bare


def _is_bare(text: str, section: Section) -> bool:
    """Whether a section holds only headings: no line but those of the path, and adornments."""
    if not section.path or section.end - section.start > _CRUMB_LENGTH * 4:
        return False
    lines = [line for line in text[section.start : section.end].split("\n") if line.strip()]
    return sum(not _ADORNMENT.match(line) for line in lines) <= 1


def _within(blocks: Sequence[Span], start: int, end: int) -> list[Span]:
    """The blocks inside [start, end), in order."""
    return sorted(block for block in blocks if start <= block[0] and block[1] <= end)
