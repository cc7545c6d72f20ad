"""Builds a document piece by piece, for formats whose text is spread over a file's structure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_name, clean_text
from ragpg.ingest.loaders.outline import Heading, sections_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Document, Section

#: More text than this in one document is the work of a decompression bomb, in characters.
MAX_TEXT = 400_000_000


class Composer:
    """Grows a clean text out of paragraphs, headings, blocks and pages, and knows where they are.

    Pieces are cleaned as they come and stand apart by line ends, so that offsets never move.
    Raises LoadError once there are more than 400 million characters.
    """

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[tuple[int, int]] = []
        self.pages: list[int] = []
        self.notes: dict[str, None] = {}
        self._parts: list[str] = []
        self.length = 0

    def paragraph(self, text: str, *, gap: int = 2) -> tuple[int, int]:
        """A paragraph after `gap` line ends; where it stands. A blank one leaves no trace."""
        text, notes = clean_text(text)
        self.notes.update(dict.fromkeys(notes))
        text = text.strip("\n").rstrip()
        if not text:
            return self.length, self.length
        if self._parts:
            self._append("\n" * gap)
        start = self.length
        self._append(text)
        return start, self.length

    def line(self, text: str) -> tuple[int, int]:
        """A line right below what is there."""
        return self.paragraph(text, gap=1)

    def heading(self, text: str, level: int) -> None:
        """A heading on a line of its own; level 1 is the highest."""
        start, end = self.paragraph(clean_name(text))
        if end > start:
            self.headings.append(Heading(start, level, clean_name(text)))

    def block(self, text: str) -> None:
        """Text that a chunker should keep whole."""
        start, end = self.paragraph(text)
        if end > start:
            self.blocks.append((start, end))

    def page(self) -> None:
        """A page begins with the next piece; until one comes it is where the text ends."""
        self.pages.append(self.length + (2 if self._parts else 0))

    def append(self, document: Document, *, level: int = 0) -> None:
        """All of another document, its headings `level` levels deeper."""
        start, end = self.paragraph(document.text)
        if end == start:
            return
        lost = len(document.text) - len(document.text.lstrip("\n"))
        shift, length = start - lost, end - start
        self.blocks += [
            (max(first, lost) + shift, min(last + shift, end))
            for first, last in document.blocks
            if first < lost + length
        ]
        for section in document.sections:
            if section.path and section.start >= lost:
                depth = level + len(section.path)
                self.headings.append(Heading(section.start + shift, depth, section.path[-1]))

    def text(self) -> str:
        """All of it, ended by a line end."""
        return "".join(self._parts) + ("\n" if self._parts else "")

    def sections(self) -> tuple[Section, ...]:
        """The text partitioned at its headings."""
        return sections_of(self.headings, self.length + (1 if self._parts else 0))

    def page_starts(self) -> tuple[int, ...]:
        """Where pages start; none of them behind the text."""
        return tuple(min(page, self.length) for page in self.pages)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
        if self.length > MAX_TEXT:
            raise LoadError(f"more than {MAX_TEXT:,} characters come out of it: too large to read")


def pipe_table(rows: Sequence[Sequence[str]], *, header: bool = True) -> str:
    """Rows as a pipe table, the form in which chunkers repeat a header; "" without any.

    Line ends in a cell become blanks, bars are escaped, short rows are filled up.
    """
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    lines = []
    for row in rows:
        cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
        lines.append(f"| {' | '.join(cells + [''] * (width - len(cells)))} |")
    if header:
        lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines)
