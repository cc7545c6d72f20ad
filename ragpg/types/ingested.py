"""What an ingest did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragpg.types.usage import Usage

#: stored: new or changed. unchanged: skipped by fingerprint. empty: no text. skipped: on purpose
#: (binary, symlink out of the folder). failed: see error. removed: pruned.
IngestStatus = Literal["stored", "unchanged", "empty", "skipped", "failed", "removed"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What happened to one source."""

    source: str
    status: IngestStatus
    chunks: int = 0
    new_chunks: int = 0
    embedded: int = 0
    cached: int = 0
    reason: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Totals and one line per source, in source order."""

    namespace: str
    files: Sequence[FileReport]
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    notes: Sequence[str] = ()

    def count(self, status: IngestStatus) -> int:
        """How many sources ended in this status."""
        return sum(file.status == status for file in self.files)

    @property
    def chunks(self) -> int:
        """Chunks of all stored or unchanged sources together."""
        return sum(file.chunks for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not any(file.status == "failed" for file in self.files)
