"""Spans of a document -> chunks: numbers, lines, pages, breadcrumbs and metadata."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.ingest.clean import clean_name, is_blank
from ragpg.ingest.split import Span, skip_blank, split
from ragpg.ingest.tokens import CHARACTERS_A_TOKEN, TokenLimit
from ragpg.types import Chunk, Document, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A heading longer than this is a paragraph that someone marked up as one.
_CRUMB_LENGTH = 200
#: A line of punctuation under or over a heading.
_ADORNMENT = re.compile(r"[ \t]*([^\w\s])\1*[ \t]*\Z")


def check_size(size: object, overlap: object = 0) -> None:
    """Raises ConfigError, naming both values, unless 0 <= overlap < size in whole numbers."""
    if type(size) is not int or type(overlap) is not int or not 0 <= overlap < size:
        raise ConfigError(
            f"a chunker cannot work with size={size!r} and overlap={overlap!r}",
            hint="Use whole numbers with size >= 1 and 0 <= overlap < size.",
        )


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


class ChunkBuilder:
    """Turns spans into chunks: numbers them, finds lines and pages, drops what has no ink.

    With a `limit`, a span whose text for embedding (breadcrumb, prefix, content) has more tokens
    is cut again.
    """

    def __init__(self, document: Document, limit: TokenLimit | None = None) -> None:
        self.document = document
        self.limit = limit
        self.ordinal = 0
        self._last: Span = (-1, 0)
        self._crumbs: dict[tuple[str, ...], str] = {}
        self._lines = [0]
        text, at = document.text, -1
        while (at := text.find("\n", at + 1)) >= 0:
            self._lines.append(at + 1)

    def __call__(self, span: Span, section: Section, prefix: str = "") -> Iterator[Chunk]:
        """The chunks of a span: one, more where it is over the limit, none where it is blank."""
        document, (start, end) = self.document, span
        if start <= self._last[0]:
            # The one before was cut again: its last part is overlap enough.
            start = skip_blank(document.text, self._last[1], end)
        content = document.text[start:end]
        if is_blank(content):
            return
        crumb = self.crumb(section.path)
        if self.limit is not None:
            room = self.limit.room(crumb, prefix, content)
            if room is not None:
                for part in list(split(document.text, start, end, size=room, overlap=0)):
                    yield from self._parts(part, section, prefix)
                return
        page = bisect_right(document.pages, start) or None
        last = bisect_right(document.pages, end - 1) or None
        yield Chunk(
            ordinal=self.ordinal,
            content=content,
            start_char=start,
            end_char=end,
            start_line=self.line(start),
            end_line=self.line(end - 1),
            breadcrumb=crumb,
            prefix=prefix,
            page=page,
            metadata=section.metadata,
            end_page=last if last != page else None,
        )
        self.ordinal += 1
        self._last = (start, end)

    def _parts(self, part: Span, section: Section, prefix: str) -> Iterator[Chunk]:
        """A part of a span that was too long; whatever it holds, it ends at one character."""
        if part[1] - part[0] <= CHARACTERS_A_TOKEN:
            limit, self.limit = self.limit, None
            try:
                yield from self(part, section, prefix)
            finally:
                self.limit = limit
        else:
            yield from self(part, section, prefix)

    def crumb(self, path: tuple[str, ...]) -> str:
        """The breadcrumb of a heading path."""
        if path not in self._crumbs:
            self._crumbs[path] = breadcrumb(self.document, path)
        return self._crumbs[path]

    def line(self, position: int) -> int:
        """The line of the file that a character of the text is in, from 1."""
        return bisect_right(self._lines, position) + self.document.line_offset


def sections_to_cut(document: Document) -> Iterator[Section]:
    """The sections in order, with bare headings joined to what stands below them."""
    if not document.sections:
        yield Section(0, len(document.text))
        return
    bare: Section | None = None
    for section in document.sections:
        is_bare = _is_bare(document.text, section)
        if bare and section.path[: len(bare.path)] == bare.path:
            section = Section(bare.start, section.end, section.path, section.metadata)
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
