"""What an ingest changes and why: what is gone, what of that moved, what differs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpg.ingest.prepare import Raw
    from ragpg.queries_store import Stored


@dataclass(slots=True)
class Changes:
    """`gone` are the sources to delete with the hashes of their bytes; `moves` leads from those
    whose bytes were found under a new name to it; `reasons` say why a source is stored."""

    planning: bool = False
    gone: dict[str, bytes] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def note(self, raw: Raw, stored: Stored | None) -> None:
        """Remember why a source is stored: it moved, or, in a plan, what differs."""
        source = raw.item.source
        if stored is None and (old := self._moved_from(raw.content_hash)) is not None:
            self.moves[old] = source
            self.reasons[source] = f"moved from {old}"
        elif self.planning:
            self.reasons[source] = _difference(raw, stored)

    def removals(self, failed: set[str]) -> dict[str, str]:
        """The sources to delete, each with the reason. What moved and failed there stays."""
        return {
            source: f"moved to {self.moves[source]}" if source in self.moves else "its file is gone"
            for source in self.gone
            if self.moves.get(source) not in failed
        }

    def _moved_from(self, content_hash: bytes) -> str | None:
        for source, content in self.gone.items():
            if content == content_hash and source not in self.moves:
                return source
        return None


def _difference(raw: Raw, stored: Stored | None) -> str:
    if stored is None:
        return "new"
    if stored.error is not None:
        return "failed before"
    if stored.content_hash != raw.content_hash:
        return "its content changed"
    return "its chunker, loader, model, title or metadata changed"
