"""What a caller gives -> bytes with a fingerprint -> a document cut into chunks.

Functions without steps: the pipeline calls them off the event loop.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, LoadError, NotText, RagpgError
from ragpg.ingest.chunkers.by_source import chunker_for
from ragpg.ingest.clean import clean_metadata, clean_name, clean_text
from ragpg.ingest.discover import Candidate, Discovery, discover, discover_below, read_file
from ragpg.ingest.embed import embedding_hash, embedding_text
from ragpg.ingest.load import detect_format, load, load_text
from ragpg.ingest.loaders import registered
from ragpg.ingest.patterns import matches
from ragpg.ingest.store import Staged
from ragpg.ingest.windows import Windows, windows_of
from ragpg.types import Document

if TYPE_CHECKING:
    from pathlib import Path

    from ragpg.protocols import Chunker
    from ragpg.types import Metadata

#: Part of every fingerprint: raise it when loaders give other text for the same bytes.
LOADERS_VERSION = 2

#: The document's metadata under this key is the path it was read from, for pruning.
PATH = "@path"

#: A text as callers write it: (source, text), a Document, or a mapping of source, text, title,
#: metadata and format.
Text = tuple[str, str] | Document | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """Something to ingest: a file, or a text in memory. `repeated` counts others of its name."""

    source: str
    file: Candidate | None = None
    text: str = ""
    document: Document | None = None
    title: str | None = None
    format: str | None = None
    metadata: Metadata = field(default_factory=dict)
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """An item with its bytes and their hash; or the reason why it cannot be read. `windows` stands
    for the bytes of a text file that is too large for memory."""

    item: Item
    data: bytes = b""
    content_hash: bytes = b""
    error: str | None = None
    windows: Windows | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """An item as a document in chunks, with the texts to embed; or the reason why not, which is no
    `fault` of a file that holds no text."""

    item: Item
    staged: Staged | None = None
    texts: Sequence[str] = ()
    error: str | None = None
    fault: bool = True


def find_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    root: str | os.PathLike[str] | None,
    follow_links: bool,
    max_bytes: int,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    trusted: bool = False,
) -> Discovery:
    """The files behind paths, named from `root` where one is given.

    Raises ConfigError for a path outside of the root, LoadError for one that is missing, unless
    the paths are `trusted`: then what is missing is gone.
    """
    rules = {"exclude": exclude, "follow_links": follow_links, "max_bytes": max_bytes}
    if root is None:
        return discover(paths, include=include, **rules)  # type: ignore[arg-type]
    if trusted:
        return discover_below(root, paths, include=include, **rules)  # type: ignore[arg-type]
    inside = []
    for path in paths:
        name = os.path.relpath(path, root).replace(os.sep, "/")
        if name == ".." or name.startswith("../"):
            raise ConfigError(f"{os.fspath(path)} is not below the root {os.fspath(root)}")
        if not os.path.lexists(path):
            raise LoadError(f"{os.fspath(path)}: no such file or folder")
        inside += [] if name == "." else [name, f"{name}/**"]
    if len(inside) < 2 * len(paths):
        return discover(root, include=include, **rules)  # type: ignore[arg-type]
    found = discover(root, include=inside, **rules)  # type: ignore[arg-type]
    if not include:
        return found
    return replace(found, files=[one for one in found.files if matches(one.source, include)])


def items_of(files: Iterable[Candidate], texts: Iterable[Text], metadata: Metadata) -> list[Item]:
    """Every source once, in the order given: of several with one name the last one stays."""
    items: dict[str, Item] = {}
    for item in [
        *(Item(file.source, file=file, metadata=metadata) for file in files),
        *(_text_item(text, metadata) for text in texts),
    ]:
        before = items.pop(item.source, None)
        items[item.source] = replace(item, repeated=before.repeated + 1) if before else item
    return list(items.values())


def read(items: Sequence[Item], max_bytes: int) -> list[Raw]:
    """The bytes of items; a file that cannot be read is an error of its own."""
    return [_read(item, max_bytes) for item in items]


def fingerprint(raw: Raw, chunker: Chunker, space: object) -> bytes:
    """Equal for equal bytes, title, metadata, format, loaders, chunker and embedding space."""
    item = raw.item
    facts = [
        LOADERS_VERSION,
        registered(),
        raw.content_hash.hex(),
        item.title,
        item.format,
        item.metadata,
        chunker_for(chunker, item.source).settings,
        space,
    ]
    try:
        text = json.dumps(facts, sort_keys=True, default=_stable)
    except (TypeError, ValueError, RecursionError):
        # What JSON cannot hold is refused when the item is prepared; until then its repr will do.
        text = repr(facts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def prepare(raw: Raw, mark: bytes, chunker: Chunker) -> Prepared:
    """Load and cut an item whose fingerprint is `mark`."""
    item = raw.item
    try:
        document = _document(raw)
        chunks = list(chunker(document))
    except NotText as error:
        return Prepared(item, error=error.message, fault=False)
    except RagpgError as error:
        return Prepared(item, error=error.message)
    except Exception as error:  # a chunker of the user's own must not stop the others
        return Prepared(item, error=f"{type(error).__name__}: {error}")
    texts = [embedding_text(chunk) for chunk in chunks]
    staged = Staged(
        document=replace(document, source=item.source),
        chunks=chunks,
        hashes=[embedding_hash(text) for text in texts],
        content_hash=raw.content_hash,
        fingerprint=mark,
        extra=path_metadata(item),
    )
    return Prepared(item, staged, texts)


def real_path(item: Item) -> str | None:
    """Where an item's file really is; None of a text."""
    return clean_name(os.path.realpath(item.file.path)) if item.file else None


def path_metadata(item: Item) -> dict[str, str]:
    """What a document's metadata says of its file, beside what its chunks show."""
    path = real_path(item)
    return {PATH: path} if path is not None else {}


def displaced(item: Item, known: str | None) -> str | None:
    """A note where the stored document of that name came from another file that is still there."""
    path = real_path(item)
    if path is None or known is None or known == path or not os.path.lexists(known):
        return None
    return (
        f"in place of another file of this name, {known}: to keep both, give both folders at once, "
        "or use two namespaces"
    )


def real_paths(paths: Sequence[str | os.PathLike[str] | Path]) -> list[str]:
    """Where the given paths really are, to compare with the paths of stored documents."""
    return [clean_name(os.path.realpath(path)) for path in paths]


def _stable(value: object) -> Any:
    """A set has no order of its own, and its repr is another one in every process."""
    return sorted(map(repr, value)) if isinstance(value, (set, frozenset)) else repr(value)


def _text_item(text: Text, metadata: Metadata) -> Item:
    if isinstance(text, Document):
        merged = {**text.metadata, **metadata}
        return Item(_name(text.source), document=text, metadata=merged)
    if isinstance(text, Mapping):
        unknown = sorted(set(text) - {"source", "text", "title", "metadata", "format"})
        if unknown or not {"source", "text"} <= set(text):
            raise ConfigError(
                f"a text needs the keys source and text, and has {', '.join(sorted(text))}",
                hint="title, metadata and format may be there too.",
            )
        own = text.get("metadata") or {}
        if not isinstance(own, Mapping):
            raise ConfigError(
                f"the metadata of {text['source']!r} must be a mapping, not a {type(own).__name__}"
            )
        return Item(
            _name(text["source"]),
            text=text["text"],
            title=text.get("title"),
            format=text.get("format"),
            metadata={**own, **metadata},
        )
    try:
        source, content = text
    except (TypeError, ValueError):
        raise ConfigError(
            f"cannot ingest a {type(text).__name__} as a text",
            hint="Give (source, text), a Document, or a mapping with source and text.",
        ) from None
    return Item(_name(source), text=content, metadata=metadata)


def _name(source: object) -> str:
    name = clean_name(source) if isinstance(source, str) else ""
    if not name:
        raise ConfigError(f"a document needs a source, a text that is not blank: {source!r}")
    return name


def _read(item: Item, max_bytes: int) -> Raw:
    if item.file is not None:
        try:
            windows = windows_of(item.file, item.metadata)
            if windows is not None:
                return Raw(item, content_hash=windows.content_hash, windows=windows)
            data = read_file(item.file, max_bytes=max_bytes)
        except LoadError as error:
            return Raw(item, error=error.message)
        return Raw(item, data, blake2b(data, digest_size=16).digest())
    if item.document is not None:
        facts = repr(replace(item.document, metadata={}, notes=()))
    elif isinstance(item.text, str):
        facts = item.text
    else:
        return Raw(item, error=f"its text is a {type(item.text).__name__}")
    data = facts.encode("utf-8", "surrogatepass")
    return Raw(item, content_hash=blake2b(data, digest_size=16).digest())


def _document(raw: Raw) -> Document:
    item = raw.item
    if item.document is not None:
        return _cleaned(item.document, item.metadata)
    if item.file is not None:
        return load(raw.data, source=item.source, metadata=item.metadata)
    return load_text(
        item.text,
        source=item.source,
        format=item.format or detect_format(b"", item.source),
        title=item.title,
        metadata=item.metadata,
    )


def _cleaned(document: Document, metadata: Metadata) -> Document:
    text, notes = clean_text(document.text)
    if text != document.text and (document.sections or document.blocks or document.pages):
        raise LoadError(
            f"{document.source}: its text needs cleaning, which would move its sections",
            hint="Clean the text with ragpg.ingest.clean.clean_text first.",
        )
    cleaned, more = clean_metadata(metadata)
    return replace(
        document,
        text=text,
        title=clean_name(document.title),
        metadata=cleaned,
        notes=(*document.notes, *notes, *more),
    )
