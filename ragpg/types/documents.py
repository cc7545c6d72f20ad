"""What is loaded, cut and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Anything JSON can hold. Metadata, filters and arm options are of this kind.
Json = Any
Metadata = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Link:
    """A link found in a document, already resolved to a source path where it is relative.

    `target` is the source of another document ("guide/install.md") or an absolute URL;
    `anchor` is the part behind '#', or "".
    """

    target: str
    anchor: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading path. Offsets are characters of Document.text.

    `metadata` is what only this section has (the sender of one message of many): it goes to the
    section's chunks, over the document's.
    """

    start: int
    end: int
    path: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A loaded document. `text` is clean (NFC, no NUL, no lone surrogates, \\n line ends); all
    offsets anywhere in ragpg are characters of this text.

    `sections` partition the text by heading; empty means one section without headings.
    `blocks` are spans that a chunker must not cut unless it has to (code fences, tables, lists).
    `pages` are the offsets at which pages start, in order; empty means no pages.
    `notes` tell what the loader had to do ("2 NUL characters removed").
    `line_offset` is how many lines of the file come before `text` (front matter that was cut off):
    line numbers count lines of the file, offsets count characters of the text.
    """

    source: str
    text: str
    title: str = ""
    format: str = "text"
    metadata: Metadata = field(default_factory=dict)
    sections: Sequence[Section] = ()
    blocks: Sequence[tuple[int, int]] = ()
    links: Sequence[Link] = ()
    pages: Sequence[int] = ()
    notes: Sequence[str] = ()
    line_offset: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document: text[start_char:end_char] == content, always.

    Lines are 1-based and inclusive. `breadcrumb` is title and heading path joined by " > ".
    `prefix` is text that a chunker added in front for indexing (a repeated table header); it is
    never part of `content` and never cited. `page` is where the chunk begins; `end_page` where it
    ends, if that is another one.
    """

    ordinal: int
    content: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    breadcrumb: str = ""
    prefix: str = ""
    page: int | None = None
    metadata: Metadata = field(default_factory=dict)
    end_page: int | None = None
