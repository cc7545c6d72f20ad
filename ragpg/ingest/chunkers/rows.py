"""CSV and TSV by records: never cut inside of one that fits, each chunk with the column names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.ingest.build import ChunkBuilder, check_size
from ragpg.ingest.split import split
from ragpg.ingest.tables import split_table
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.ingest.split import Span
    from ragpg.ingest.tokens import TokenLimit
    from ragpg.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class RowChunker:
    """Whole records of a delimited text, up to `size` characters with the header in front.

    The first record is the header: the prefix of every chunk but the first, unless it is longer
    than half of `size`. Where `header` gives it, all records are data.
    """

    size: int = 1000
    header: str = ""
    limit: TokenLimit | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_size(self.size)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"rows/1 size={self.size}" + (f" header={self.header!r}" if self.header else "")

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in order; none for a document without visible text."""
        text = document.text
        build, section = ChunkBuilder(document, self.limit), Section(0, len(text))
        records = records_of(text)
        if self.header:
            yield from self._data(document)
            return
        header = next(records, (0, 0))
        while header[1] and not text[slice(*header)].strip():
            header = next(records, (0, 0))
        if not header[1]:
            return
        for span, prefix in split_table(
            text, header[0], len(text), header[1], self.size, rows=records
        ):
            yield from build(span, section, prefix)

    def _data(self, document: Document) -> Iterator[Chunk]:
        """The chunks of records whose header stands elsewhere."""
        text, build = document.text, ChunkBuilder(document, self.limit)
        section = Section(0, len(text))
        prefix = self.header if len(self.header) <= self.size // 2 else ""
        room = self.size - len(prefix)
        start = stop = 0
        for first, last in records_of(text):
            if last - start > room and stop > start:
                yield from self._parts(build, text, start, stop, room, section, prefix)
                start = first
            stop = last
        yield from self._parts(build, text, start, stop, room, section, prefix)

    def _parts(
        self,
        build: ChunkBuilder,
        text: str,
        start: int,
        stop: int,
        room: int,
        section: Section,
        prefix: str,
    ) -> Iterator[Chunk]:
        for span in split(text, start, stop, size=room, overlap=0):
            yield from build(span, section, prefix)


def records_of(text: str) -> Iterator[Span]:
    """Records of delimited text: lines, joined while a quotation is open over a line end.

    A quotation that stays open for a hundred lines is a stray mark: then lines are records.
    """
    start, end = 0, len(text)
    while start < end:
        stop, quotes, lines = start, 0, 0
        first = 0
        while stop < end:
            line = stop
            stop = text.find("\n", line) + 1 or end
            first = first or stop
            quotes += text.count('"', line, stop)
            lines += 1
            if quotes % 2 == 0:
                break
            if lines == 100:
                stop = first
                break
        if quotes % 2 and stop == end and lines > 1:
            stop = first
        yield start, stop
        start = stop
