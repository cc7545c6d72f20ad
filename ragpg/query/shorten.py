"""A part of a hit as a hit of its own: offsets and lines follow the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpg.types import Hit


def cut(hit: Hit, start: int, end: int) -> Hit:
    """The hit with content[start:end]; offsets and lines follow. The page stays that of the
    chunk."""
    content = hit.content
    if start == 0 and end == len(content):
        return hit
    return replace(
        hit,
        content=content[start:end],
        core=None,
        start_char=None if hit.start_char is None else hit.start_char + start,
        end_char=None if hit.start_char is None else hit.start_char + end,
        start_line=None
        if hit.start_line is None
        else hit.start_line + content.count("\n", 0, start),
        end_line=None if hit.end_line is None else hit.end_line - content.count("\n", end),
    )


def narrow(hit: Hit) -> Hit:
    """The hit without the neighbours that expansion put around what was found."""
    if hit.core is None or hit.start_char is None:
        return hit
    start, end = hit.core
    return cut(hit, max(0, start - hit.start_char), min(len(hit.content), end - hit.start_char))
