"""A chunker for each kind of file, by patterns of their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.ingest.patterns import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.protocols import Chunker
    from ragpg.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class SourceChunker:
    """The chunker of the first pattern that a document's source matches, else `otherwise`.

    patterns   pairs of a pattern, as "*.md" or "logs/**", and its chunker, in order
    """

    patterns: Sequence[tuple[str, Chunker]]
    otherwise: Chunker

    @property
    def settings(self) -> str:
        """Those of all; a document is known by those of its own chunker, see `chunker_for`."""
        named = [f"{pattern}: {chunker.settings}" for pattern, chunker in self.patterns]
        return "; ".join([*named, self.otherwise.settings])

    def of(self, source: str) -> Chunker:
        """The chunker of a source."""
        for pattern, chunker in self.patterns:
            if matches(source, [pattern]):
                return chunker
        return self.otherwise

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """As the chunker of its source."""
        return self.of(document.source)(document)


def chunker_for(chunker: Chunker, source: str) -> Chunker:
    """The chunker itself; of a SourceChunker the one for that source."""
    return chunker.of(source) if isinstance(chunker, SourceChunker) else chunker
