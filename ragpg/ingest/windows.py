"""Text files too large for memory: read in windows, each a document, with exact offsets of all.

A window ends at a blank line or else at a line end, so that chunks lose little by it. Offsets and
lines count from the start of the file's clean text, as they would if it were read at once.
"""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from ragpg.errors import LoadError
from ragpg.ingest.chunkers.rows import RowChunker, records_of
from ragpg.ingest.load import detect_format, load
from ragpg.ingest.loaders import is_built_in
from ragpg.ingest.loaders.decode import MOSTLY, guess, marked
from ragpg.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import FileIO

    from ragpg.ingest.discover import Candidate
    from ragpg.protocols import Chunker
    from ragpg.types import Chunk, Document, Metadata

#: Larger text files are read in windows, in bytes.
LARGE = 16_000_000
#: Characters of a window.
WINDOW = 1_000_000
#: Formats that keep the file's text, so that a part of it can be read alone.
_FORMATS = frozenset(["text", "code", "csv", "json", "markdown", "rst"])
_STEP = 1 << 20
_SAMPLE = 100_000


@dataclass(slots=True)
class Windows:
    """A large text file: how it is encoded, what it is, the hash of its bytes, and notes."""

    file: Candidate
    format: str
    encoding: str
    content_hash: bytes
    metadata: Metadata
    notes: dict[str, None] = field(default_factory=dict)

    def documents(self) -> Iterator[tuple[Document, int, int]]:
        """The windows, each with the characters and lines before it.

        Raises LoadError at the end, when the file was changed since it was hashed.
        """
        characters = lines = 0
        path: tuple[str, ...] = ()
        for text in self._texts():
            # Only the start of a file is front matter, whatever a window begins with.
            plain = bool(characters) and text.startswith(("---", "+++"))
            document = load(
                text.encode("utf-8", "surrogatepass"),
                source=self.file.source,
                format="text" if plain else self.format,
                metadata=self.metadata if not characters else None,
            )
            self.notes.update(dict.fromkeys(document.notes))
            lines_here = document.line_offset + document.text.count("\n")
            document = replace(document, sections=_continued(document, path))
            if document.sections:
                path = document.sections[-1].path
            yield document, characters, lines
            characters += len(document.text)
            lines += lines_here

    def chunks(self, chunker: Chunker) -> Iterator[Chunk]:
        """The chunks of all windows, numbered through."""
        ordinal = 0
        header = ""
        crumb: str | None = None
        for document, characters, lines in self.documents():
            if crumb is None:
                crumb = document.title
                if document.format == "csv":
                    first = next(records_of(document.text), (0, 0))
                    header = document.text[slice(*first)]
            document = replace(document, title=crumb)
            cut = chunker if not (characters and header) else RowChunker(header=header)
            for chunk in cut(document):
                yield replace(
                    chunk,
                    ordinal=ordinal,
                    start_char=chunk.start_char + characters,
                    end_char=chunk.end_char + characters,
                    start_line=chunk.start_line + lines,
                    end_line=chunk.end_line + lines,
                )
                ordinal += 1

    def _texts(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        digest = blake2b(digest_size=16)
        rest = ""
        for data in _bytes(self.file):
            digest.update(data)
            rest += decoder.decode(data)
            while len(rest) > WINDOW:
                cut = _border(rest, WINDOW)
                yield rest[:cut]
                rest = rest[cut:]
        rest += decoder.decode(b"", True)
        if digest.digest() != self.content_hash:
            raise LoadError(f"{self.file.source}: it was changed while it was read")
        if rest:
            yield rest


def windows_of(file: Candidate, metadata: Metadata) -> Windows | None:
    """A file to be read in windows; None when it is small, or of a format that is read whole.

    Reads all of it once. Raises LoadError when it cannot be read.
    """
    if file.size <= LARGE:
        return None
    with _open(file) as stream:
        head = stream.read(_STEP)
    try:
        format = detect_format(head, file.source)
    except LoadError:
        return None
    if format not in _FORMATS or not is_built_in(format):
        return None
    digest = blake2b(digest_size=16)
    encoding = marked(head)
    utf8 = codecs.getincrementaldecoder("utf-8")("replace")
    broken = wide = 0
    sample = b""
    for data in _bytes(file):
        digest.update(data)
        if encoding is None:
            text = utf8.decode(data)
            here = 0 if text.isascii() else text.count("\ufffd")
            broken += here
            wide += 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore")) - here
            if here and not sample:
                sample = data
    notes: dict[str, None] = {f"{file.size:,} bytes were read in parts": None}
    if encoding is None:
        encoding = "utf-8"
        if broken and wide < MOSTLY * broken:
            encoding = guess(sample)
            notes[f"not UTF-8; decoded as {encoding}, a guess"] = None
        elif broken:
            notes[f"{broken:,} undecodable bytes replaced by U+FFFD"] = None
    return Windows(file, format, encoding, digest.digest(), metadata, notes)


def _open(file: Candidate) -> FileIO:
    try:
        # Without O_NONBLOCK a pipe put in the file's place would wait for a writer.
        descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return open(descriptor, "rb", buffering=0)
        os.close(descriptor)
    except OSError as error:
        raise LoadError(f"{file.source}: {(error.strerror or '').lower()}") from error
    raise LoadError(f"{file.source}: not a regular file")


def _bytes(file: Candidate) -> Iterator[bytes]:
    with _open(file) as stream:
        while data := stream.read(_STEP):
            yield data


def _border(text: str, limit: int) -> int:
    """Where a window ends: behind a blank line, a line, a blank, or anywhere."""
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, limit // 2, limit)
        if found >= 0:
            return found + len(mark)
    # Neither half of a line end.
    return limit - 1 if text[limit - 1] == "\r" else limit


def _continued(document: Document, path: Sequence[str]) -> Sequence[Section]:
    """The sections; what stands before the first heading belongs to the last one of before."""
    if not path:
        return document.sections
    sections = list(document.sections) or [Section(0, len(document.text))]
    if not sections[0].path:
        sections[0] = replace(sections[0], path=tuple(path))
    return sections
