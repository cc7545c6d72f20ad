"""A part of a hit as a hit of its own: offsets and lines follow the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpg.types import Hit


def cut(hit: Hit, start: int, end: int) -> Hit:
    """The hit with content[start:end]; offsets and lines follow. The page is that of the chunk
    that was found, or of the first neighbour where the part starts before it."""
    content = hit.content
    if start == 0 and end == len(content):
        return hit
    first = None if hit.start_char is None else hit.start_char + start
    in_core = hit.core is not None and first is not None and first >= hit.core.start_char
    return replace(
        hit,
        content=content[start:end],
        start_char=first,
        end_char=None if first is None else first + end - start,
        start_line=_moved(hit.start_line, content.count("\n", 0, start)),
        end_line=_moved(hit.end_line, -content.count("\n", end)),
        page=hit.core.page if hit.core is not None and in_core else hit.page,
        core=None,
    )


def narrow(hit: Hit) -> Hit:
    """The hit without the neighbours that expansion put around what was found."""
    if hit.core is None or hit.start_char is None:
        return hit
    start, end = hit.core.start_char - hit.start_char, hit.core.end_char - hit.start_char
    return cut(hit, max(0, start), min(len(hit.content), end))


def _moved(line: int | None, by: int) -> int | None:
    return None if line is None else line + by
