"""A file that is read in windows becomes one document all the same, in one transaction.

It is read three times, a window at a time: to hash it, to embed its chunks (whose vectors wait in
the cache, so that an interrupted run goes on where it was), and to copy them into the database;
once more where other spaces are filled beside.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.embed import embedding_hash, embedding_text
from ragpg.ingest.embedding import Space, embed_group
from ragpg.ingest.missing_vectors import restore_vectors
from ragpg.ingest.prepare import Prepared, Raw, path_metadata
from ragpg.ingest.reports import overlong_note
from ragpg.ingest.store import Staged, chunk_rows, store_rows
from ragpg.steps import Flow, call
from ragpg.types import Chunk, Document, FileReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragpg.ingest.windows import Windows
    from ragpg.protocols import Chunker
    from ragpg.types import IngestStatus

#: Chunks that are embedded at a time.
BATCH = 512


@dataclass(slots=True)
class _Counts:
    """What embedding came to, and why it failed."""

    embedded: int = 0
    cached: int = 0
    refused: int = 0
    overlong: int = 0
    error: str | None = None


def store_large(
    namespace: str,
    namespace_id: int,
    raw: Raw,
    mark: bytes,
    chunker: Chunker,
    space: Space | None,
    ttl: float,
    kept: Sequence[Space] = (),
) -> Flow[FileReport]:
    """Embed and store a large file. Errors of the file are in the report, others are raised.

    `kept` are spaces that are filled beside; what fails there fails nothing here.
    """
    windows, source = _windows(raw), raw.item.source
    counts = _Counts()
    try:
        spaces = [] if space is None else [(space, counts)]
        spaces += [(one, _Counts()) for one in kept if one.down is None]
        yield from _embed(raw, windows, chunker, spaces, ttl, needed=counts)
        if counts.error is not None:
            return FileReport(source, "failed", reason=counts.error)
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
        [written] = yield from store_rows(namespace_id, [staged], rows)
        whole = written.chunks - counts.refused
        if space is not None and written.outcome == "stored" and written.embedded < whole:
            yield from restore_vectors(namespace, space, ttl)
        if written.outcome == "stored":
            yield from _restore_beside(namespace, raw, windows, chunker, kept, ttl)
    except LoadError as error:
        return FileReport(source, "failed", reason=error.message)
    notes = [*windows.notes]
    if counts.refused:
        notes.append(f"{counts.refused} chunks have no vector")
    notes += overlong_note(counts.overlong)
    return FileReport(
        source,
        written.outcome,  # type: ignore[arg-type]
        chunks=written.chunks,
        new_chunks=written.new_chunks,
        embedded=counts.embedded,
        cached=max(counts.cached, 0),
        notes=tuple(notes),
    )


def _restore_beside(
    namespace: str,
    raw: Raw,
    windows: Windows,
    chunker: Chunker,
    kept: Sequence[Space],
    ttl: float,
) -> Flow[None]:
    """Whether something was pruned of the spaces beside shows in what must be embedded again."""
    spaces = [(one, _Counts()) for one in kept if one.down is None]
    # The file is stored, whatever has become of it since.
    with suppress(LoadError):
        yield from _embed(raw, windows, chunker, spaces, ttl)
    for one, again in spaces:
        if again.embedded:
            yield from restore_vectors(namespace, one, ttl)


def plan_large(raw: Raw, chunker: Chunker) -> Flow[FileReport]:
    """What storing a large file would come to."""
    windows, source = _windows(raw), raw.item.source
    try:
        count = yield from call(lambda: sum(1 for _ in windows.chunks(chunker)))
    except LoadError as error:
        return FileReport(source, "failed", reason=error.message)
    status: IngestStatus = "stored" if count else "empty"
    return FileReport(source, status, chunks=count, notes=tuple(windows.notes))


def _windows(raw: Raw) -> Windows:
    assert raw.windows is not None
    return raw.windows


def _embed(
    raw: Raw,
    windows: Windows,
    chunker: Chunker,
    spaces: Sequence[tuple[Space, _Counts]],
    ttl: float,
    *,
    needed: _Counts | None = None,
) -> Flow[None]:
    """Put the vectors of all chunks into the cache, for every space, with one reading of the file.

    A space that fails is left alone from there on; all of it ends where the one that is `needed`
    fails.
    """
    if not spaces:
        return
    chunks = windows.chunks(chunker)
    while batch := (yield from call(_take, chunks)):
        texts = [embedding_text(chunk) for chunk in batch]
        hashes = [embedding_hash(text) for text in texts]
        document = Document(raw.item.source, "")
        staged = Staged(document, batch, hashes, raw.content_hash, b"")
        for space, counts in spaces:
            if counts.error is not None:
                continue
            group = yield from embed_group([Prepared(raw.item, staged, texts)], space, ttl)
            if group.failed:
                counts.error = next(iter(group.failed.values()))
                if counts is needed:
                    return
                continue
            embedded = len(group.owner)
            counts.embedded += embedded
            counts.cached += sum(key in group.vectors for key in hashes) - embedded
            counts.refused += sum(key not in group.vectors for key in hashes)
            counts.overlong += sum(key in group.overlong for key in hashes)


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
