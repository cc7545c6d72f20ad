"""Source code, configuration and data files: verbatim, with their language."""

from __future__ import annotations

from ragpg.ingest.loaders.decode import read_text
from ragpg.ingest.loaders.languages import language_of
from ragpg.types import Document


def load(data: bytes, *, source: str) -> Document:
    """The decoded and cleaned text; `metadata.language` as the file name tells it."""
    text, notes = read_text(data)
    language = language_of(source)
    metadata = {"language": language} if language else {}
    return Document(source=source, text=text, format="code", metadata=metadata, notes=notes)
