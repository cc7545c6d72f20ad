"""Plain text: the file as it is."""

from __future__ import annotations

from ragpg.ingest.loaders.decode import read_text
from ragpg.types import Document


def load(data: bytes, *, source: str) -> Document:
    """The decoded and cleaned text; no title, no sections."""
    text, notes = read_text(data)
    return Document(source=source, text=text, format="text", notes=notes)
