"""EPUB books: the chapters in the order of the book's spine, each read as the HTML it is."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_name
from ragpg.ingest.loaders import html
from ragpg.ingest.loaders.archive import open_container, read_member
from ragpg.ingest.loaders.compose import Composer
from ragpg.types import Document

if TYPE_CHECKING:
    from zipfile import ZipFile

_CONTAINER = "META-INF/container.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CHAPTERS = ("application/xhtml+xml", "text/html")


def load(data: bytes, *, source: str) -> Document:
    """Title, authors and language as the book says; a chapter is a page, its headings sections.

    Raises LoadError: broken, or protected by a rights management.
    """
    with open_container(data) as book:
        if (
            "META-INF/encryption.xml" in book.namelist()
            and "META-INF/rights.xml" in book.namelist()
        ):
            raise LoadError("the book is protected by a rights management")
        root = _xml(book, _CONTAINER).find(".//{*}rootfile")
        path = root.get("full-path", "") if root is not None else ""
        package = _xml(book, path)
        out, missing = Composer(), 0
        for name in _spine(package, posixpath.dirname(path)):
            if name not in book.namelist():
                missing += 1
                continue
            out.page()
            out.append(html.load(read_member(book, name), source=name))
    authors = [clean_name(one.text or "") for one in package.iter(f"{_DC}creator")]
    metadata: dict[str, object] = {"authors": authors} if authors else {}
    language = package.find(f".//{_DC}language")
    if language is not None and language.text:
        metadata["lang"] = clean_name(language.text)
    title = package.find(f".//{_DC}title")
    return Document(
        source=source,
        text=out.text(),
        title=clean_name(title.text or "") if title is not None else "",
        format="epub",
        metadata=metadata,
        sections=out.sections(),
        blocks=tuple(out.blocks),
        pages=out.page_starts(),
        notes=(*out.notes, *([f"{missing} chapters are missing from the book"] if missing else [])),
    )


def _xml(book: ZipFile, name: str) -> ElementTree.Element:
    data = read_member(book, name)
    if b"<!ENTITY" in data:
        raise LoadError(f"{name} in it declares entities, which a book has no use for")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise LoadError(f"{name} in it is broken: {error}") from error


def _spine(package: ElementTree.Element, folder: str) -> list[str]:
    """Names of the chapters' members. A name that leads out of the archive is not in it."""
    items = {
        item.get("id", ""): posixpath.normpath(
            posixpath.join(folder, unquote(item.get("href", "")))
        )
        for item in package.iterfind(".//{*}item")
        if item.get("media-type") in _CHAPTERS
    }
    order = [reference.get("idref", "") for reference in package.iterfind(".//{*}itemref")]
    return [items[name] for name in order if name in items]
