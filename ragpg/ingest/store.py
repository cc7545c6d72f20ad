"""Documents with their chunks -> one transaction: COPY into the staging tables, then one call."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ragpg.queries_store import BEGIN_STORE, STORE_STAGED
from ragpg.steps import Copy, Fetch, Transact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragpg.queries_store import Written
    from ragpg.steps import Flow
    from ragpg.types import Chunk, Document, Json

_DOCUMENT = {
    "source": "text",
    "title": "text",
    "format": "text",
    "content_hash": "bytea",
    "fingerprint": "bytea",
    "metadata": "jsonb",
    "links": "jsonb",
}
_CHUNK = {
    "source": "text",
    "ordinal": "int4",
    "content": "text",
    "prefix": "text",
    "breadcrumb": "text",
    "start_char": "int4",
    "end_char": "int4",
    "start_line": "int4",
    "end_line": "int4",
    "page": "int4",
    "metadata": "jsonb",
    "content_hash": "bytea",
    "embedding_hash": "bytea",
}


@dataclass(frozen=True, slots=True)
class Staged:
    """A document ready to be stored.

    `fingerprint` tells a later ingest whether anything has changed, `hashes` are the keys of the
    chunks' embeddings, `extra` is metadata of the document that its chunks do not show.
    """

    document: Document
    chunks: Sequence[Chunk]
    hashes: Sequence[bytes]
    content_hash: bytes
    fingerprint: bytes
    extra: Mapping[str, Json] = field(default_factory=dict)


def store(namespace_id: int, documents: Sequence[Staged]) -> Flow[list[Written]]:
    """Write documents, all of them or none; every chunk of a document in the same transaction.

    Documents must have different sources.
    """
    rows = [row for one in documents for row in chunk_rows(one, one.chunks, one.hashes)]
    return (yield from store_rows(namespace_id, documents, rows))


def store_rows(
    namespace_id: int, documents: Sequence[Staged], chunks: Iterable[Sequence[Any]]
) -> Flow[list[Written]]:
    """Write documents with the rows of their chunks, which may be made while they are copied."""
    rows: list[Written] = yield Transact(
        (
            Fetch(BEGIN_STORE),
            Copy("ragpg_stage_document", tuple(_DOCUMENT), tuple(_DOCUMENT.values()),
                 [_document(one) for one in documents]),
            Copy("ragpg_stage_chunk", tuple(_CHUNK), tuple(_CHUNK.values()), chunks),
            Fetch(STORE_STAGED, {"namespace_id": namespace_id}),
        )
    )  # fmt: skip
    return rows


def content_hash(text: str) -> bytes:
    """Identity of a chunk within its document, beside its occurrence."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _document(one: Staged) -> tuple[Any, ...]:
    document = one.document
    links = list(dict.fromkeys((link.target, link.anchor) for link in document.links))
    return (
        document.source,
        document.title,
        document.format,
        one.content_hash,
        one.fingerprint,
        {**document.metadata, **one.extra},
        [{"target": target, "anchor": anchor} for target, anchor in links],
    )


def _metadata(shared: dict[str, Json], chunk: Chunk) -> dict[str, Json]:
    """A chunk's metadata: the document's, its section's, and the page it ends on if another."""
    pages = {"end_page": chunk.end_page} if chunk.end_page is not None else {}
    return {**shared, **chunk.metadata, **pages} if chunk.metadata or pages else shared


def chunk_rows(
    one: Staged, chunks: Sequence[Chunk], hashes: Sequence[bytes]
) -> list[tuple[Any, ...]]:
    """The rows of chunks of a document, with the keys of their embeddings."""
    shared = dict(one.document.metadata)
    source = one.document.source
    return [
        (
            source,
            chunk.ordinal,
            chunk.content,
            chunk.prefix,
            chunk.breadcrumb,
            chunk.start_char,
            chunk.end_char,
            chunk.start_line,
            chunk.end_line,
            chunk.page,
            _metadata(shared, chunk),
            content_hash(chunk.content),
            key,
        )
        for chunk, key in zip(chunks, hashes, strict=True)
    ]
