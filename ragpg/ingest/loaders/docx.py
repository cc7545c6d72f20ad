"""Word documents: paragraphs, headings by style, lists and tables in the order of the body."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_name
from ragpg.ingest.loaders.archive import check_markup
from ragpg.ingest.loaders.compose import Composer, pipe_table
from ragpg.ingest.loaders.extras import parser_of
from ragpg.ingest.loaders.links import resolve_link, unique_links
from ragpg.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.types import Link

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEVEL = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_DEPTH = 50
#: Elements around paragraphs: content controls and what was inserted with changes tracked.
_WRAPPERS = frozenset(f"{_WORD}{name}" for name in ("sdt", "sdtContent", "ins"))


def load(data: bytes, *, source: str) -> Document:
    """Body text with tracked insertions and without deletions; heads, feet and comments are not
    read. Title and author are the properties', or else the first paragraph of style Title."""
    docx = parser_of("docx", package="python-docx", extra="office", what="Word documents")
    check_markup(data)
    try:
        word = docx.Document(io.BytesIO(data))
    except Exception as error:
        raise LoadError(f"the Word document cannot be read: {error}") from error
    styles = {style.style_id: style.name or "" for style in word.styles}
    writer = _Writer(styles)
    writer.body(word.element.body)
    facts = word.core_properties
    metadata = {
        key: value
        for key, value in (
            ("author", facts.author),
            ("subject", facts.subject),
            ("keywords", facts.keywords),
            ("modified", facts.modified),
        )
        if value
    }
    targets = {key: one.target_ref for key, one in word.part.rels.items() if one.is_external}
    return Document(
        source=source,
        text=writer.out.text(),
        title=clean_name(facts.title or "") or writer.title,
        format="docx",
        metadata=metadata,
        sections=writer.out.sections(),
        blocks=tuple(writer.out.blocks),
        links=unique_links(list(_links(word.element.body, targets, source))),
        notes=tuple(writer.out.notes),
    )


class _Writer:
    """Writes the elements of a body into a composer."""

    def __init__(self, styles: dict[str, str]) -> None:
        self.styles = styles
        self.out = Composer()
        self.title = ""
        self._list: int | None = None

    def body(self, element: Any, depth: int = 0) -> None:
        for child in element:
            if child.tag == f"{_WORD}p":
                self.paragraph(child)
                continue
            self.end_list()
            if child.tag == f"{_WORD}tbl":
                self.out.block(pipe_table([list(_cells(row)) for row in _rows(child)]))
            elif child.tag in _WRAPPERS and depth < _DEPTH:
                self.body(child, depth + 1)
        self.end_list()

    def paragraph(self, element: Any) -> None:
        text = _text(element)
        style = element.find(f"{_WORD}pPr/{_WORD}pStyle")
        name = self.styles.get(style.get(f"{_WORD}val"), "") if style is not None else ""
        level = _LEVEL.search(name)
        if level or name == "Title":
            self.end_list()
            if name == "Title" and not self.title:
                self.title = clean_name(text)
            self.out.heading(text, int(level[1]) + 1 if level else 1)
        elif element.find(f"{_WORD}pPr/{_WORD}numPr") is not None or name.startswith("List"):
            start, end = self.out.paragraph(f"- {text}", gap=1 if self._list is not None else 2)
            if self._list is None and end > start:
                self._list = start
        else:
            self.end_list()
            self.out.paragraph(text)

    def end_list(self) -> None:
        """Items in a row are one block."""
        if self._list is not None:
            self.out.blocks.append((self._list, self.out.length))
            self._list = None


def _rows(table: Any) -> Iterator[Any]:
    yield from table.iter(f"{_WORD}tr")


def _cells(row: Any) -> Iterator[str]:
    """The cells' texts; one over several columns is repeated in each."""
    for cell in row.findall(f"{_WORD}tc"):
        span = cell.find(f"{_WORD}tcPr/{_WORD}gridSpan")
        width = span.get(f"{_WORD}val", "1") if span is not None else "1"
        text = " ".join(_text(one) for one in cell.iter(f"{_WORD}p"))
        yield from [text] * (min(int(width[:3]), 100) if width.isdecimal() else 1)


def _text(paragraph: Any) -> str:
    """The words of a paragraph: what was deleted with changes tracked is in elements of its own."""
    parts: list[str] = []
    skipped = {id(one) for fall in paragraph.iter(_FALLBACK) for one in fall.iter()}
    for element in paragraph.iter(f"{_WORD}t", f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
        if id(element) in skipped:
            continue
        if element.tag == f"{_WORD}t":
            parts.append(element.text or "")
        elif element.getparent().tag == f"{_WORD}r":
            parts.append("\t" if element.tag == f"{_WORD}tab" else "\n")
    return "".join(parts)


def _links(body: Any, targets: dict[str, str], source: str) -> Iterator[Link]:
    for element in body.iter(f"{_WORD}hyperlink"):
        target = targets.get(element.get(f"{_OFFICE}id", ""))
        link = resolve_link(target, source, _text(element)) if target else None
        if link:
            yield link
