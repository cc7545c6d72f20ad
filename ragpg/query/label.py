"""How a source is written for a reader: `guide.md (lines 3-9) Guide > Install`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpg.types import Hit


def place(hit: Hit) -> str:
    """Where the hit stands in its source: "page 3, lines 4-9", or "" when that is not known."""
    parts = []
    if hit.page is not None:
        parts.append(f"page {hit.page}")
    if hit.lines is not None:
        first, last = hit.lines
        parts.append(f"line {first}" if first == last else f"lines {first}-{last}")
    return ", ".join(parts)


def label(hit: Hit) -> str:
    """Source, place and heading path on one line. A line end in a source or heading becomes a
    blank, so that nothing a document is called can look like the next source."""
    where = place(hit)
    parts = [hit.source, f"({where})" if where else "", hit.breadcrumb or hit.title]
    return " ".join(" ".join(parts).split())
