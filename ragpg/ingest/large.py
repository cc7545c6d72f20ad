"""A file that is read in windows becomes one document all the same, in one transaction.

It is read three times, a window at a time: to hash it, to embed its chunks (whose vectors wait in
the cache, so that an interrupted run goes on where it was), and to copy them into the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.embed import embedding_hash, embedding_text
from ragpg.ingest.embedding import Space, embed_group
from ragpg.ingest.prepare import Prepared, Raw, path_metadata
from ragpg.ingest.store import Staged, chunk_rows, store_rows
from ragpg.steps import Flow, call
from ragpg.types import Chunk, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.ingest.windows import Windows
    from ragpg.protocols import Chunker
    from ragpg.queries import Written

#: Chunks that are embedded at a time.
BATCH = 512


@dataclass(slots=True)
class Outcome:
    """What became of a large file: the row of the database, or an error; and the counts."""

    written: Written | None = None
    error: str | None = None
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    refused: int = 0


def store_large(
    namespace_id: int, raw: Raw, mark: bytes, chunker: Chunker, space: Space | None, ttl: float
) -> Flow[Outcome]:
    """Embed and store a large file. Errors of the file are in the outcome, others are raised."""
    windows = raw.windows
    assert windows is not None
    done = Outcome()
    try:
        if space is not None:
            yield from _embed(raw, windows, chunker, space, ttl, done)
            if done.error is not None:
                return done
        document = yield from call(_head, windows)
        staged = Staged(
            document=document,
            chunks=(),
            hashes=(),
            content_hash=raw.content_hash,
            fingerprint=mark,
            extra=path_metadata(raw.item),
        )
        rows = _Rows(staged, windows, chunker)
        [done.written] = yield from store_rows(namespace_id, [staged], rows)
        done.chunks = done.written.chunks
    except LoadError as error:
        done.error = error.message
    return done


def count_chunks(windows: Windows, chunker: Chunker) -> int:
    """How many chunks a large file has. Raises LoadError."""
    return sum(1 for _ in windows.chunks(chunker))


def _embed(
    raw: Raw, windows: Windows, chunker: Chunker, space: Space, ttl: float, done: Outcome
) -> Flow[None]:
    """Put the vectors of all chunks into the cache."""
    chunks = windows.chunks(chunker)
    while batch := (yield from call(_take, chunks)):
        texts = [embedding_text(chunk) for chunk in batch]
        hashes = [embedding_hash(text) for text in texts]
        document = Document(raw.item.source, "")
        staged = Staged(document, batch, hashes, raw.content_hash, b"")
        group = yield from embed_group([Prepared(raw.item, staged, texts)], space, ttl)
        if group.failed:
            done.error = next(iter(group.failed.values()))
            return
        embedded = len(group.owner)
        done.embedded += embedded
        done.cached += sum(key in group.vectors for key in hashes) - embedded
        done.refused += sum(key not in group.vectors for key in hashes)


def _take(chunks: Iterator[Chunk]) -> list[Chunk]:
    return list(islice(chunks, BATCH))


def _head(windows: Windows) -> Document:
    """The document without its text: title and metadata are those of the first window."""
    for document, _, _ in windows.documents():
        return document
    return Document(windows.file.source, "")


class _Rows:
    """The rows of the chunks, made anew each time that they are gone through: a transaction that
    failed by chance is tried again."""

    def __init__(self, staged: Staged, windows: Windows, chunker: Chunker) -> None:
        self.staged, self.windows, self.chunker = staged, windows, chunker

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for chunk in self.windows.chunks(self.chunker):
            yield from chunk_rows(self.staged, [chunk], [embedding_hash(embedding_text(chunk))])
