"""An HTML data table as a pipe table, the form in which chunkers repeat its header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.ingest.loaders.html_text import TextWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A cell longer than this is page layout, not data.
_CELL_LIMIT = 2000
_SPAN_LIMIT = 50


class Table:
    """Collects the cells of one table; `cell` is the open one. `depth` is where it is nested."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.cell: TextWriter | None = None
        self._rows: list[list[TextWriter]] = []
        self._spans: dict[int, int] = {}
        self._heads: set[int] = set()

    def start(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        """A row or a cell begins; it ends the cell before it."""
        self.end()
        if tag == "tr" or not self._rows:
            self._rows.append([])
        if tag == "tr":
            return
        self.cell = TextWriter()
        self._rows[-1].append(self.cell)
        span = attributes.get("colspan") or ""
        self._spans[id(self.cell)] = min(int(span[:4]), _SPAN_LIMIT) if span.isdecimal() else 1
        if tag == "th":
            self._heads.add(id(self.cell))

    def end(self) -> None:
        """The open cell ends."""
        self.cell = None

    def write(self, writer: TextWriter) -> None:
        """Writes data as a pipe table, and a table that serves layout cell by cell as text.

        Layout is: headings, tables or preformatted text in a cell, fewer than two rows or columns,
        a cell of more than 2,000 characters. A cell over several columns is repeated in each. A
        first row of header cells is followed by a delimiter row.
        """
        writers = [row for row in self._rows if row]
        rows = [self._texts(row) for row in writers]
        width = max(map(len, rows), default=0)
        simple = all(not cell.headings and not cell.verbatim for row in writers for cell in row)
        short = all(len(cell) <= _CELL_LIMIT for row in rows for cell in row)
        if len(rows) < 2 or width < 2 or not simple or not short:
            for row in writers:
                for cell in row:
                    writer.append(cell)
            writer.break_line(2)
            return
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        if all(id(cell) in self._heads for cell in writers[0]):
            lines.insert(1, "|" + "---|" * width)
        writer.block("\n".join(lines))

    def _texts(self, row: list[TextWriter]) -> list[str]:
        texts: list[str] = []
        for cell in row:
            text = " ".join(cell.text().split()).replace("|", "\\|")
            texts += [text] * max(1, self._spans[id(cell)])
        return texts
