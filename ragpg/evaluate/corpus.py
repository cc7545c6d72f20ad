"""A judged corpus in a namespace of its own, found again by its content."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ragpg.errors import LoadError
from ragpg.ingest.chunk import HeadingChunker, WholeChunker

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.client import Client
    from ragpg.evaluate.datasets import JudgedSet
    from ragpg.types import FileReport

#: The text search configuration of Postgres for a language code; others take `simple`.
LANGUAGES = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip


def namespace_of(judged: JudgedSet, chunk_size: int | None, model: str, language: str) -> str:
    """The name of the namespace: whatever changes the stored rows changes it."""
    digest = hashlib.sha256()
    for document in judged.corpus.values():
        digest.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
    digest.update(f"{chunk_size}\0{model}".encode())
    if language != "english":
        digest.update(language.encode())
    return f"eval-{judged.name}-{digest.hexdigest()[:12]}"


def language_of(judged: JudgedSet) -> str:
    """The configuration for the language that all documents say they have; english by default."""
    codes = {str(one.extras.get("lang", "en")) for one in judged.corpus.values()}
    return LANGUAGES.get(codes.pop(), "simple") if len(codes) == 1 else "english"


def fill(
    rag: Client,
    judged: JudgedSet,
    *,
    chunk_size: int | None = None,
    language: str | None = None,
    on_document: Callable[[FileReport], object] | None = None,
) -> str:
    """Ingest a corpus into its namespace and return the name; what is there already is skipped.

    Without `chunk_size` (characters) a document is one chunk. Raises LoadError when a document
    could not be stored.
    """
    model = rag.embedder.model if rag.embedder else "none"
    language = language or language_of(judged)
    namespace = namespace_of(judged, chunk_size, model, language)
    report = rag.ingest(
        texts=[
            {"source": one.id, "title": one.title, "text": one.text}
            for one in judged.corpus.values()
        ],
        namespace=namespace,
        language=language,
        chunker=WholeChunker()
        if chunk_size is None
        else HeadingChunker(chunk_size, min(200, chunk_size // 5)),
        on_file=on_document,
    )
    failed = [file for file in report.files if file.status == "failed"]
    if failed:
        raise LoadError(
            f"{len(failed)} documents of {judged.name} could not be stored, the first one: "
            f"{failed[0].source}: {failed[0].reason}"
        )
    return namespace
