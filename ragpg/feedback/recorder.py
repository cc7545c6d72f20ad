"""Showings, counted in memory and written in batches; see ragpg.counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.counts import Batching, Counts
from ragpg.queries_learned import RECORD_FEEDBACK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.feedback.attribution import Showing

__all__ = ["Batching", "Recorder"]


class Recorder(Counts[tuple[str, int, int]]):
    """Counts of one client by namespace, passage and rank. May be used by several threads."""

    def __init__(self, batching: Batching | None = None) -> None:
        super().__init__(
            "feedback",
            RECORD_FEEDBACK,
            ("namespace", "chunk_id", "rank"),
            ("shown", "followed"),
            batching,
        )

    def add(self, showings: Iterable[Showing]) -> bool:
        """Count showings; whether it is time to write."""
        return self.count(
            ((one.namespace, one.chunk_id, one.rank), (1, int(one.followed))) for one in showings
        )
