"""Chunkers by name, as command lines and configuration files write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.ingest.chunk import HeadingChunker, WholeChunker
from ragpg.ingest.chunkers.auto import AutoChunker
from ragpg.ingest.chunkers.code import CodeChunker
from ragpg.ingest.chunkers.plain import FixedChunker, RecursiveChunker, SeparatorChunker
from ragpg.ingest.chunkers.rows import RowChunker
from ragpg.ingest.chunkers.semantic import SemanticChunker
from ragpg.ingest.chunkers.token import TokenChunker

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.protocols import Chunker, Embedder

_SIZED: dict[str, Callable[..., Any]] = {
    "auto": AutoChunker,
    "heading": HeadingChunker,
    "recursive": RecursiveChunker,
    "fixed": FixedChunker,
    "token": TokenChunker,
}
_WITHOUT_OVERLAP: dict[str, Callable[..., Any]] = {"code": CodeChunker, "rows": RowChunker}
_SPEC = re.compile(r"(\w+)(?::(-?\d{1,9})(?:/(-?\d{1,9}))?)?")

CHUNKERS = (
    "auto, heading, recursive, fixed or token with :SIZE/OVERLAP, code or rows with :SIZE, "
    "separator:TEXT, semantic, whole"
)


def chunker_named(spec: str, embedder: Embedder | None = None) -> Chunker:
    """The chunker of a specification such as "recursive:800/100", "token:200/40", "code",
    "separator:---" or "semantic". Sizes are characters, of "token" tokens.

    Raises ConfigError for an unknown name, sizes that cannot work, or "semantic" without embedder.
    """
    if spec.startswith("separator:"):
        text = spec.removeprefix("separator:")
        return SeparatorChunker(text.replace("\\n", "\n").replace("\\t", "\t"))
    match = _SPEC.fullmatch(spec)
    name, size, overlap = match.groups() if match else (spec, None, None)
    numbers = [int(number) for number in (size, overlap) if number is not None]
    if name in _SIZED:
        if len(numbers) == 1:
            numbers.append(min(200, numbers[0] // 5))
        return _SIZED[name](*numbers)  # type: ignore[no-any-return]
    if name in _WITHOUT_OVERLAP and overlap is None:
        return _WITHOUT_OVERLAP[name](*numbers)  # type: ignore[no-any-return]
    if name == "semantic" and not numbers:
        if embedder is None:
            raise ConfigError("the semantic chunker needs an embedder")
        return SemanticChunker(embedder)
    if name == "whole" and not numbers:
        return WholeChunker()
    raise ConfigError(f"there is no chunker {spec!r}", hint=f"Use {CHUNKERS}.")
