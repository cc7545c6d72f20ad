"""Chunks of a number of tokens, as a real tokenizer counts them."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.ingest.build import ChunkBuilder, check_size, sections_to_cut
from ragpg.ingest.split import split
from ragpg.ingest.tokens import TokenLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.ingest.split import Span
    from ragpg.types import Chunk, Document

#: Most characters of a chunk for each token of its size.
_CHARACTERS = 10
#: The tokenizer that the package ships.
BUILT_IN = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class TokenChunker:
    """Cuts along headings as HeadingChunker does, with `size` and `overlap` in tokens.

    `tokenizer` is "all-MiniLM-L6-v2" or the path of a tokenizer.json. What is
    embedded of a chunk (breadcrumb, prefix, content and the model's two markers) never has more
    than `limit` tokens (default: `size` and 64 more): a chunk that would is cut again. Raises
    ConfigError when the sizes cannot work or the tokenizer cannot be loaded.
    """

    size: int = 200
    overlap: int = 40
    tokenizer: str = BUILT_IN
    limit: int | None = None

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)
        if self.limit is not None and self.limit < 8:
            raise ConfigError(f"a limit of {self.limit} tokens leaves no room for text")

    @property
    def settings(self) -> str:
        """Name, version of the algorithm, parameters."""
        return (
            f"token/1 size={self.size} overlap={self.overlap} "
            f"tokenizer={os.path.basename(self.tokenizer)} limit={self.limit}"
        )

    def count(self, text: str) -> int:
        """Tokens of a text, without start and end markers."""
        return len(_tokenizer(self.tokenizer).encode(text, add_special_tokens=False).ids)

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """Chunks in reading order; none for a document without visible text."""
        limit = TokenLimit(self.limit or self.size + 64, self.count)
        build = ChunkBuilder(document, limit)
        for section in sections_to_cut(document):
            for span in self._spans(document, section.start, section.end):
                yield from build(span, section)

    def _spans(self, document: Document, start: int, end: int) -> Iterator[Span]:
        encoded = _tokenizer(self.tokenizer).encode(
            document.text[start:end], add_special_tokens=False
        )
        ruler = TokenRuler([start + first for first, _ in encoded.offsets], self.size, self.overlap)
        blocks = [block for block in document.blocks if start <= block[0] and block[1] <= end]
        return split(
            document.text, start, end, size=self.size, overlap=self.overlap, blocks=blocks,
            ruler=ruler,
        )  # fmt: skip


class TokenRuler:
    """Measures spans in tokens; `starts` are the characters at which tokens start."""

    def __init__(self, starts: list[int], size: int, overlap: int) -> None:
        self.starts, self.size, self.overlap = starts, size, overlap

    def reach(self, start: int) -> int:
        """The furthest end of a span of `size` tokens from a character on."""
        place = bisect_left(self.starts, start) + self.size
        # A tokenizer may know a run without blanks as one unknown word.
        most = start + _CHARACTERS * self.size
        return most if place >= len(self.starts) else max(min(self.starts[place], most), start + 1)

    def back(self, end: int) -> int:
        """The earliest start of a span of `overlap` tokens up to a character."""
        return self._before(end, self.overlap)

    def earliest(self, end: int) -> int:
        """The earliest start of a span of `size` tokens up to a character."""
        return self._before(end, self.size)

    def _before(self, end: int, tokens: int) -> int:
        if not tokens:
            return end
        place = bisect_right(self.starts, end - 1) - tokens
        start = self.starts[max(place, 0)] if self.starts else end
        # Within one unknown word the token before starts far away.
        return max(start, end - _CHARACTERS * tokens)


@cache
def _tokenizer(name: str) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ConfigError(
            "a chunker by tokens needs the package tokenizers",
            hint="pip install 'ragpg[local]'",
        ) from error
    path = name
    if name == BUILT_IN:
        path = str(files("ragpg.providers") / "assets" / "minilm-tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        raise ConfigError(f"{path} cannot be read as a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
