"""Headings with levels -> sections with heading paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.ingest.clean import clean_name
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where its first character is, its level (1 is the highest), its words."""

    start: int
    level: int
    text: str


def sections_of(headings: Iterable[Heading], length: int) -> tuple[Section, ...]:
    """Sections that partition a text of `length` characters at its headings; () without any.

    Text before the first heading has an empty path. A skipped level is no level of its own.
    """
    sections: list[Section] = []
    open_headings: list[Heading] = []
    start, path = 0, tuple[str, ...]()
    for heading in headings:
        if heading.start > start:
            sections.append(Section(start, heading.start, path))
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        open_headings.append(heading)
        start = heading.start
        path = tuple(text for item in open_headings if (text := clean_name(item.text)))
    if not open_headings:
        return ()
    if length > start:
        sections.append(Section(start, length, path))
    return tuple(sections)
