"""The default: a chunker for each type of file, and no chunk that a model would cut off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.ingest.build import check_size
from ragpg.ingest.chunk import HeadingChunker
from ragpg.ingest.chunkers.code import CodeChunker
from ragpg.ingest.chunkers.rows import RowChunker
from ragpg.ingest.tokens import TokenLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.protocols import Chunker
    from ragpg.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class AutoChunker:
    """Source code by syntax, CSV by records, everything else along headings.

    `size` and `overlap` are characters. Text that is denser than prose (Chinese, hexadecimal,
    numbers) is cut smaller, so that the text for embedding has at most `tokens` tokens by an
    estimate from above; prose of 1,000 characters never comes near.
    """

    size: int = 1000
    overlap: int = 200
    tokens: int = 512

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)
        check_size(self.tokens, 16)

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return f"auto/1 size={self.size} overlap={self.overlap} tokens={self.tokens}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        return self.chosen(document)(document)

    def chosen(self, document: Document) -> Chunker:
        """The chunker for a document's format."""
        limit = TokenLimit(self.tokens)
        if document.format == "csv":
            return RowChunker(self.size, limit=limit)
        if document.format == "code":
            return CodeChunker(self.size, limit=limit)
        return HeadingChunker(self.size, self.overlap, limit=limit)
