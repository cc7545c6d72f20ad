"""A document's way through an ingest as one line of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.types import FileReport

if TYPE_CHECKING:
    from ragpg.ingest.embedding import Embedded
    from ragpg.ingest.prepare import (
        Item,
        Prepared,
    )


def overlong_note(count: int) -> list[str]:
    """What a report says of chunks that were too long for the model, if there were any."""
    if not count:
        return []
    which = "1 chunk is" if count == 1 else f"{count} chunks are"
    return [f"{which} longer than the model takes: embedded in parts, whose mean is the vector"]


def report_of(
    item: Item,
    status: str,
    *,
    chunks: int,
    new_chunks: int = 0,
    document: Prepared | None = None,
    group: Embedded | None = None,
) -> FileReport:
    notes: list[str] = []
    if item.repeated:
        notes.append(f"given {item.repeated + 1} times under this name; the last one counts")
    embedded = cached = 0
    if document is not None and document.staged is not None:
        notes += document.staged.document.notes
        if group is not None:
            hashes = document.staged.hashes
            embedded = sum(group.owner.get(key) == item.source for key in set(hashes))
            cached = sum(key in group.vectors for key in hashes) - embedded
            without = sum(key not in group.vectors for key in hashes)
            reasons = {group.refused[key] for key in hashes if key in group.refused}
            if reasons:
                which = "1 chunk has" if without == 1 else f"{without} chunks have"
                notes.append(f"{which} no vector: {'; '.join(sorted(reasons))}")
            notes += overlong_note(sum(key in group.overlong for key in hashes))
    return replace(
        FileReport(item.source, "stored"),
        status=status,  # type: ignore[arg-type]
        chunks=chunks,
        new_chunks=new_chunks,
        embedded=embedded,
        cached=max(cached, 0),
        notes=tuple(notes),
    )
