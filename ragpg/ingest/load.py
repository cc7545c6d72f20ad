"""Bytes or text -> Document. The loader is chosen by content first, then by name."""

from __future__ import annotations

import re
from dataclasses import replace
from posixpath import basename, splitext
from typing import TYPE_CHECKING

from ragpg.errors import LoadError, NotText, RagpgError
from ragpg.ingest.clean import clean_metadata, clean_name, clean_text
from ragpg.ingest.loaders import EXTENSIONS, LOADERS
from ragpg.ingest.loaders.archive import unpack
from ragpg.ingest.loaders.languages import language_of
from ragpg.ingest.loaders.mail_head import mail_format
from ragpg.ingest.loaders.sniff import sniff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragpg.protocols import Loader
    from ragpg.types import Document, Metadata

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,1000}?-->\s*)?"
    rb"<(?:!doctype html|html)\b",
    re.IGNORECASE | re.DOTALL,
)

_PACKED = re.compile(r"\.(?:gz|bz2|xz)\Z", re.IGNORECASE)
#: Names that mail may have; other text may begin with lines that look like its head.
_MAIL = frozenset(["", ".eml", ".email", ".mail", ".mbox", ".mbx", ".txt"])


def load(
    data: bytes,
    *,
    source: str,
    format: str | None = None,
    title: str | None = None,
    metadata: Metadata | None = None,
    loaders: Mapping[str, Loader] | None = None,
) -> Document:
    """The document in the bytes of a file.

    `format` skips detection. `title` and `metadata` win over what the file says; metadata is
    merged by key. `loaders` adds to or replaces the registered ones by format. A file without
    text gives a document without text, which is no error. One file packed by gzip, bzip2 or xz is
    read as what is inside.
    Raises LoadError, with the source's name: the bytes are no text, no loader knows the format,
    the loader failed, or metadata cannot be stored as JSON.
    """
    source = clean_name(source)
    known = {**LOADERS, **(loaders or {})}
    name = source
    if format is None:
        data, name = _unpacked(data, source, known)
    try:
        chosen = format or detect_format(data, name, known=known)
    except LoadError as error:
        # What is packed is known by the name of its file.
        message = error.message.removeprefix(f"{name}: ")
        raise type(error)(f"{source}: {message}", hint=error.hint) from error
    loader = known.get(chosen)
    if loader is None:
        raise LoadError(
            f"{source}: no loader for format {chosen!r}",
            hint=f"Known formats: {', '.join(sorted(known))}. Register a loader for others.",
        )
    try:
        document = loader(data, source=name)
        if name != source:
            document = replace(document, source=source)
        return _finish(document, title, metadata)
    except LoadError as error:
        raise LoadError(f"{source}: {error.message}", hint=error.hint) from error
    except RagpgError:
        raise
    except Exception as error:  # a parser's own fault must name the file and not stop the others
        reason = clean_name(f"{type(error).__name__}: {error}")
        raise LoadError(f"{source}: cannot be read as {chosen}: {reason}") from error


def load_text(
    text: str,
    *,
    source: str,
    format: str = "text",
    title: str | None = None,
    metadata: Metadata | None = None,
    loaders: Mapping[str, Loader] | None = None,
) -> Document:
    """The document in a text that is in memory already. Binary content is not looked for.

    The text is cleaned as a file would be, and `notes` say what was dropped. Raises LoadError.
    """
    text, notes = clean_text(text)
    document = load(
        text.encode("utf-8"),
        source=source,
        format=format,
        title=title,
        metadata=metadata,
        loaders=loaders,
    )
    return replace(document, notes=(*notes, *document.notes))


def detect_format(data: bytes, source: str, *, known: Mapping[str, Loader] | None = None) -> str:
    """The format whose loader should read the bytes.

    Raises LoadError for binary content, unless a loader for its format is among `known`; NotText
    where no loader could read it.
    """
    kind = sniff(data)
    if kind is not None:
        if kind.format and kind.format in (LOADERS if known is None else known):
            return kind.format
        if kind.format:
            raise LoadError(
                f"{source}: {kind.label}s are not supported",
                hint=f"Convert it to text or Markdown, or register a loader for {kind.format!r}.",
            )
        refusal = LoadError if kind.spoilt else NotText
        raise refusal(f"{source}: binary ({kind.label})", hint="Leave it out, or give its text.")
    extension = splitext(basename(source).lower())[1]
    if extension in _MAIL and (mail := mail_format(data, sure=extension == ".eml")):
        return mail
    if language_of(source):
        return "code"
    if _HTML.match(data, 0, 4096):
        return "html"
    return EXTENSIONS.get(extension, "text")


def _unpacked(data: bytes, source: str, known: Mapping[str, Loader]) -> tuple[bytes, str]:
    """What is inside of a packed file, and its name there; anything else as it is."""
    kind = sniff(data)
    if kind is None or kind.format not in ("gzip", "bzip2", "xz") or kind.format in known:
        return data, source
    try:
        return unpack(data, kind.format), _PACKED.sub("", source)
    except LoadError as error:
        raise LoadError(f"{source}: {error.message}", hint=error.hint) from error


def _finish(document: Document, title: str | None, metadata: Metadata | None) -> Document:
    """Adds what the caller knows, and cleans what a loader of the user's may not have."""
    merged, notes = clean_metadata({**document.metadata, **(metadata or {})})
    return replace(
        document,
        title=clean_name(document.title if title is None else title),
        metadata=merged,
        notes=(*document.notes, *notes),
    )
