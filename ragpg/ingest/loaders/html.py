"""HTML -> readable text: headings as sections, lists, preformatted text and tables as blocks.

Built on the event parser of the standard library. A tree is not needed for reading order, and the
tree builders for it nest elements whose end tags are left out, as HTML allows for <p>, <li>, <td>.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.ingest.clean import clean_name, is_blank
from ragpg.ingest.loaders.decode import read_text
from ragpg.ingest.loaders.html_page import Page
from ragpg.ingest.loaders.links import resolve_link, unique_links
from ragpg.ingest.loaders.outline import sections_of
from ragpg.types import Document

if TYPE_CHECKING:
    from ragpg.ingest.loaders.outline import Heading

_DECLARED = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_MAIN = re.compile(r"<main[\s>]", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")


def load(data: bytes, *, source: str) -> Document:
    """The visible text. Scripts, styles, navigation and footers are dropped; where there is
    exactly one <main>, only that is read.

    The title is the only <h1> where <title> repeats it ("Install - Manual"), else <title>, else
    the first <h1>. Offsets and lines are those of the extracted text.
    """
    declared = _DECLARED.search(data, 0, 4096)
    markup, notes = read_text(data, declared=declared[1].decode("ascii") if declared else None)
    try:
        page = _read(markup)
    except AssertionError as error:  # the parser's word for a declaration it cannot read
        notes = (*notes, f"broken HTML, its tags were cut out: {error}")
        return Document(source=source, text=_TAGS.sub(" ", markup), format="html", notes=notes)
    text = page.writer.text()
    links = (resolve_link(href, source, words) for href, words in page.links)
    return Document(
        source=source,
        text=text,
        title=_title(clean_name(page.title), page.writer.headings),
        format="html",
        sections=sections_of(page.writer.headings, len(text)),
        blocks=tuple(page.writer.blocks),
        # A permanent link beside a heading leads nowhere else.
        links=unique_links(
            [link for link in links if link and (link.text or link.target != source)]
        ),
        notes=(*notes, *page.notes),
    )


def _read(markup: str) -> Page:
    """The page; only its <main> where there is one with text."""
    if len(_MAIN.findall(markup)) == 1:
        page = Page(only="main")
        page.read(markup)
        if not is_blank(page.writer.text()):
            return page
    page = Page()
    page.read(markup)
    return page


def _title(title: str, headings: list[Heading]) -> str:
    tops = [clean_name(heading.text) for heading in headings if heading.level == 1]
    if len(tops) == 1 and tops[0] in title:
        return tops[0]
    return title or (tops[0] if tops else "")
