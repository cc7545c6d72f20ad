"""Chunkers beside the one along headings, and the choice among them by file type."""

from __future__ import annotations

from ragpg.ingest.chunkers.auto import AutoChunker
from ragpg.ingest.chunkers.code import CodeChunker
from ragpg.ingest.chunkers.plain import FixedChunker, RecursiveChunker, SeparatorChunker
from ragpg.ingest.chunkers.rows import RowChunker
from ragpg.ingest.chunkers.semantic import SemanticChunker
from ragpg.ingest.chunkers.token import TokenChunker

__all__ = [
    "AutoChunker",
    "CodeChunker",
    "FixedChunker",
    "RecursiveChunker",
    "RowChunker",
    "SemanticChunker",
    "SeparatorChunker",
    "TokenChunker",
]
