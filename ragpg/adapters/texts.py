"""What the adapters share: a framework's documents in, hits with their place out.

One document of a framework is one document of ragpg: its id is the source, its text stays as it
is, because the framework has cut it already.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.client_async import AsyncClient
from ragpg.errors import ConfigError, LoadError
from ragpg.ingest.split import split
from ragpg.types import Chunk, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragpg.client import Client
    from ragpg.types import Hit, IngestReport

_LOG = logging.getLogger(__name__)

#: What is longer is cut; the index of one chunk has room for about five times this.
_LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class AsGiven:
    """A chunker that leaves texts as they are, blanks at the ends included, and names no heading
    but the title: ids that a framework makes up mean nothing and are not indexed."""

    @property
    def settings(self) -> str:
        """Name and version of the algorithm."""
        return f"as-given/1 size={_LONGEST}"

    def __call__(self, document: Document) -> Iterator[Chunk]:
        """One chunk; several only of a text of more than 200,000 characters."""
        text = document.text
        if not text.strip():
            return
        spans = [(0, len(text))]
        if len(text) > _LONGEST:
            spans = list(split(text, 0, len(text), size=_LONGEST, overlap=0))
        for ordinal, (start, end) in enumerate(spans):
            content = text[start:end]
            line = text.count("\n", 0, start) + 1
            yield Chunk(
                ordinal=ordinal,
                content=content,
                start_char=start,
                end_char=end,
                start_line=line,
                end_line=line + content.rstrip("\n").count("\n"),
                breadcrumb=document.title,
            )


def as_document(id: str, text: str, metadata: Mapping[str, Any]) -> Document:
    """A framework's document as one of ragpg. Its metadata's title is its title."""
    title = metadata.get("title")
    return Document(
        source=id,
        text=text,
        title=title if isinstance(title, str) else "",
        metadata=dict(metadata),
    )


def check_report(report: IngestReport) -> int:
    """How many documents are stored now. Blank ones are not, which is logged.

    Raises LoadError that names the first document which failed.
    """
    failed = [file for file in report.files if file.status == "failed"]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise LoadError(f"{failed[0].source} was not stored: {failed[0].reason}{more}")
    if blank := report.count("empty"):
        _LOG.warning("%d blank documents were not stored in %s", blank, report.namespace)
    return report.count("stored") + report.count("unchanged")


def sync_client(client: Client | AsyncClient) -> Client:
    """The client, for a method that is not awaited. Raises ConfigError for an async one."""
    if isinstance(client, AsyncClient):
        raise ConfigError(
            "this call is synchronous and the client is not",
            hint="Await the async method, or give a client of ragpg.connect.",
        )
    return client


def async_client(client: Client | AsyncClient, other: AsyncClient | None) -> AsyncClient | None:
    """The async client of the two, or None: then the sync one has to work in a thread."""
    return client if isinstance(client, AsyncClient) else other


def id_of(hit: Hit) -> str:
    """The id of a chunk among those of its namespace: the source, for the first chunk of it, and
    `source#n` for the others, n counted from 0."""
    return f"{hit.source}#{hit.chunk_index}" if hit.chunk_index else hit.source


def sources_of(ids: Sequence[str]) -> list[str]:
    """The sources that ids may belong to."""
    found = []
    for id in ids:
        found.append(id)
        source, _, number = id.rpartition("#")
        if source and number.isdecimal():
            found.append(source)
    return list(dict.fromkeys(found))


def placed_metadata(hit: Hit) -> dict[str, Any]:
    """The document's metadata and over it the place of the hit, as plain values that can be
    written as JSON: what a citation needs, and what the arms said."""
    place = {
        "namespace": hit.namespace,
        "source": hit.source,
        "title": hit.title or None,
        "heading": hit.breadcrumb or None,
        "lines": None if hit.lines is None else list(hit.lines),
        "page": hit.page,
        "chunk_id": hit.chunk_id,
        "version": hit.version,
        "rank": hit.rank,
        "score": hit.score,
        "score_kind": hit.score_kind,
        "arms": {name: {"rank": arm.rank, "score": arm.score} for name, arm in hit.arms.items()},
    }
    return {**hit.metadata, **{key: value for key, value in place.items() if value is not None}}
