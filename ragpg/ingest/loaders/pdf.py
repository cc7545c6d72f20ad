"""PDF by PDFium: the text layer in reading order, pages, bookmarks as sections."""

from __future__ import annotations

import re
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_name, clean_text, is_blank
from ragpg.ingest.loaders.extras import parser_of
from ragpg.ingest.loaders.outline import Heading, sections_of
from ragpg.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

#: PDFium may not be used by two threads at once.
_LOCK = Lock()
#: Where a word was divided at the end of a line, PDFium writes one of these and joins the halves.
_DIVIDED = re.compile("[\x02\ufffe]")
_NUMBERS = re.compile(r"\d+")
#: A line that stands at the top or bottom of this share of pages is no part of the text: left and
#: right pages have heads of their own.
_REPEATED = 0.25
_EDGE_LINES = 2
_FIELDS = ("Author", "Subject", "Keywords", "CreationDate")
_WHEN = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")


def load(data: bytes, *, source: str) -> Document:
    """The text of all pages; pages begin where the printed ones do.

    Sections are the bookmarks whose titles are found on their pages. Running heads, running feet
    and page numbers are left out. The title is the document's own, never the file name. A document
    without a text layer gives one without text, and a note. Raises LoadError: broken or encrypted.
    """
    pdfium = parser_of("pypdfium2", package="pypdfium2", extra="pdf", what="PDF")
    with _LOCK:
        try:
            pdf = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise LoadError(_refusal(str(error))) from error
        try:
            pages = [_page_text(pdf, number) for number in range(len(pdf))]
            bookmarks = list(_bookmarks(pdf))
            facts = {key: clean_name(value) for key, value in pdf.get_metadata_dict().items()}
        finally:
            pdf.close()
    edges = _running(pages)
    text, starts = _joined([_without(page, edges) for page in pages])
    metadata: dict[str, Any] = {"pages": len(pages)}
    metadata |= {key.lower(): facts[key] for key in _FIELDS if facts.get(key)}
    if created := _WHEN.match(metadata.pop("creationdate", "")):
        metadata["created"] = "-".join(part for part in created.groups() if part)
    text, notes = clean_text(text)  # cleaned already page by page: this moves nothing
    if is_blank(text):
        text, starts = "", []
        count = f"{len(pages)} page{'' if len(pages) == 1 else 's'}"
        notes = (
            *notes,
            f"no text found in {count}: without a text layer it needs OCR first (ocrmypdf), "
            "or a loader of your own for 'pdf'",
        )
    elif edges:
        notes = (*notes, f"{len(edges)} running heads and feet left out")
    headings = _headings(bookmarks, text, starts)
    return Document(
        source=source,
        text=text,
        title=facts.get("Title", ""),
        format="pdf",
        metadata=metadata,
        sections=sections_of(headings, len(text)),
        pages=tuple(starts),
        notes=notes,
    )


def _refusal(reason: str) -> str:
    if "assword" in reason:
        return "the PDF is encrypted: save it without a password"
    return f"the PDF cannot be read: {reason}"


def _page_text(pdf: Any, number: int) -> str:
    page = pdf[number]
    try:
        text_page = page.get_textpage()
        try:
            text: str = text_page.get_text_bounded()
        finally:
            text_page.close()
    finally:
        page.close()
    text, _ = clean_text(_DIVIDED.sub("", text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _bookmarks(pdf: Any) -> Iterator[tuple[int, str, int]]:
    """Level, title and page index of the bookmarks that lead to a page."""
    for bookmark in pdf.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        title = clean_name(bookmark.get_title() or "")
        if index is not None and title:
            yield bookmark.level + 1, title, index


def _edge(line: str) -> str:
    return _NUMBERS.sub("#", " ".join(line.split()))


def _edge_lines(page: str) -> list[int]:
    """Which lines of a page may be a running head or foot: at most half of its lines."""
    count = page.count("\n") + 1
    edge = min(_EDGE_LINES, count // 4)
    return [*range(edge), *range(count - edge, count)]


def _running(pages: list[str]) -> set[str]:
    """Lines, numbers aside, at the edge of a quarter of the pages; for four pages and more."""
    if len(pages) < 4:
        return set()
    counts: Counter[str] = Counter()
    for page in pages:
        lines = page.split("\n")
        counts.update({_edge(lines[at]) for at in _edge_lines(page)} - {""})
    return {line for line, count in counts.items() if count >= max(3, _REPEATED * len(pages))}


def _without(page: str, edges: set[str]) -> str:
    if not edges:
        return page
    lines = page.split("\n")
    dropped = {at for at in _edge_lines(page) if _edge(lines[at]) in edges}
    return "\n".join(line for at, line in enumerate(lines) if at not in dropped).strip("\n")


def _joined(pages: list[str]) -> tuple[str, list[int]]:
    """The pages, each beginning on a line of its own, and where they start."""
    parts, starts, length = [], [], 0
    for page in pages:
        starts.append(length)
        if page:
            parts.append(page + "\n")
            length += len(page) + 1
    return "".join(parts), starts


def _headings(bookmarks: list[tuple[int, str, int]], text: str, starts: list[int]) -> list[Heading]:
    """The bookmarks as headings, in the order of the text; those not found are left out."""
    headings: list[Heading] = []
    place = 0
    for level, title, index in bookmarks:
        if index >= len(starts):
            continue
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        start = max(place, starts[index])
        words = r"\s+".join(map(re.escape, title.split()))
        # The number of a section is printed, and often missing from its bookmark.
        found = re.compile(rf"^[^\S\n]*(?:[\dA-Z.]{{1,12}}\s+)?{words}", re.M).search(
            text, start, end
        )
        if found:
            at = text.rfind("\n", 0, found.end() - len(title.split()[-1])) + 1
            at = min(max(found.start(), start), at) if at > found.start() else found.start()
            headings.append(Heading(at, level, title))
            place = found.end()
    return headings
