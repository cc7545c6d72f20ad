"""Cuts a long pipe table between rows; each part gets the header rows as its prefix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.ingest.split import Span, split, trim_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Header row and delimiter row ("|---|:--:|") of a Markdown table; loaders write HTML tables so.
_HEADER = re.compile(
    r"[^\n]*\|[^\n]*\n[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)"
)


def table_header(text: str, start: int, end: int) -> int:
    """Where header and delimiter rows of the table at [start, end) end; -1 if it is no table."""
    match = _HEADER.match(text, start, end)
    return match.end() if match else -1


def split_table(
    text: str, start: int, end: int, header: int, size: int, rows: Iterable[Span] | None = None
) -> Iterator[tuple[Span, str]]:
    """Spans of whole rows with the prefix each needs; no row is in two spans. `rows` are the rows
    after the header, where they are not simply its lines.

    Span and prefix together are at most `size` long, unless the header alone takes more than half
    of it: then no prefix is added. A row longer than the room left is cut like any text.
    """
    prefix = text[start:header]
    if not prefix.endswith("\n"):
        prefix += "\n"
    if len(prefix) > size // 2:
        for span in split(text, start, end, size=size, overlap=0):
            yield span, ""
        return
    first, stop = start, header
    for row_start, row_end in _lines(text, header, end) if rows is None else rows:
        room = size if first == start else size - len(prefix)
        if row_end - first <= room:
            stop = row_end
            continue
        if stop > first:
            yield (first, trim_blank(text, first, stop)), "" if first == start else prefix
        first, stop = row_start, row_end
        if row_end - row_start > size - len(prefix):
            for span in split(text, row_start, row_end, size=size - len(prefix), overlap=0):
                yield span, prefix
            first = stop
    if trim_blank(text, first, stop) > first:
        yield (first, trim_blank(text, first, stop)), "" if first == start else prefix


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop
