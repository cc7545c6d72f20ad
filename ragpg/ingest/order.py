"""What a caller asks of an ingest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from ragpg.ingest.prepare import Item, Text
    from ragpg.protocols import Chunker
    from ragpg.types import FileReport, Metadata
    from ragpg.vector_index import IndexProgress


@dataclass(frozen=True, slots=True)
class Order:
    """What a caller asks of an ingest; the client documents the fields."""

    paths: Sequence[str | os.PathLike[str]] = ()
    texts: Iterable[Text] = ()
    namespace: str = "default"
    prune: bool = False
    root: str | os.PathLike[str] | None = None
    chunker: Chunker | None = None
    language: str = "english"
    kind: str = "knowledge"
    metadata: Metadata = field(default_factory=dict)
    follow_links: bool = False
    on_file: Callable[[FileReport], object] | None = None
    dry_run: bool = False
    sentences: bool | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    #: Somebody saw the paths change, so that those which are not there are gone.
    trusted: bool = False
    #: Files and texts that somebody looked up already, beside `paths` and `texts`.
    items: Sequence[Item] = ()
    #: auto, live or after; None: what the settings say. See ragpg.ingest.indexing.
    index: str | None = None
    on_index: Callable[[IndexProgress], object] | None = None
    #: Leave the building of the index to somebody who is told by `on_index_due`.
    on_index_due: Callable[[int], object] | None = None


def size_of(item: Item) -> int:
    """Bytes of a file, characters of a text."""
    if item.file is not None:
        return item.file.size
    text = item.text if item.document is None else item.document.text
    return len(text) if isinstance(text, str) else 0
