"""reStructuredText by its section and block marks; the text stays the file's.

Not docutils: a doctree has no exact offsets, files written for Sphinx are full of directives and
roles that docutils alone refuses, it includes other files unless told not to, and it builds more
than is needed. Sections, links and literal blocks are all that retrieval needs, and a broken
file simply has fewer of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragpg.ingest.clean import clean_name
from ragpg.ingest.loaders.decode import read_text
from ragpg.ingest.loaders.links import resolve_link, unique_links
from ragpg.ingest.loaders.outline import Heading, sections_of
from ragpg.types import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*\Z")
_DIRECTIVE = re.compile(r"\.\.[ \t]+[\w:.+-]+::")
_GRID = re.compile(r"\+(?:[-=]+\+)+[ \t]*\Z")
_SIMPLE = re.compile(r"=+(?: +=+)+[ \t]*\Z")

_INLINE_LINK = re.compile(r"`([^`<]{0,300})<([^`<>\s]{1,1000})>`__?")
_TARGET = re.compile(
    r"^\.\.[ \t]+_(?:`[^`\n]{1,300}`|[^:`\n]{1,300}):[ \t]+(\S+)[ \t]*$", re.MULTILINE
)
_DOC_ROLE = re.compile(r":doc:`(?:([^`<]{1,300})<)?([^`<>]{1,300})>?`")
_BARE = re.compile(r"(?<![<`\w])https?://[^\s<>`]{1,1000}[^\s<>`.,;:!?)\]'\"]")
_ROLE = re.compile(r":[\w:.+-]{1,40}:`([^`<]{1,300}?)(?:[ \t]*<[^`>]{0,300}>)?`")


def load(data: bytes, *, source: str) -> Document:
    """The file's text; sections by underlined headings, the title is the first of them."""
    text, notes = read_text(data)
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    headings = _headings(lines, starts)
    return Document(
        source=source,
        text=text,
        title=clean_name(headings[0].text) if headings else "",
        format="rst",
        sections=sections_of(headings, len(text)),
        blocks=tuple((starts[first], starts[last]) for first, last in _blocks(lines)),
        links=unique_links(list(_links(text, source))),
        notes=notes,
    )


def _headings(lines: list[str], starts: list[int]) -> list[Heading]:
    """Underlined titles, levels in the order in which the adornments first appear."""
    levels: dict[str, int] = {}
    headings: list[Heading] = []
    at = 0
    while at + 1 < len(lines):
        found = _title_at(lines, at)
        if not found:
            at += 1
            continue
        text, style, height = found
        level = levels.setdefault(style, len(levels) + 1)
        headings.append(Heading(starts[at], level, _ROLE.sub(r"\1", text).replace("``", "")))
        at += height
    return headings


def _title_at(lines: list[str], at: int) -> tuple[str, str, int] | None:
    """The title that starts at a line, its adornment style and how many lines it takes."""
    if at and lines[at - 1].strip():
        return None
    first = _ADORNMENT.match(lines[at])
    if first:
        if at + 2 >= len(lines) or not lines[at + 1].strip():
            return None
        under = _ADORNMENT.match(lines[at + 2])
        if not under or under[0].rstrip() != first[0].rstrip() or _ADORNMENT.match(lines[at + 1]):
            return None
        return lines[at + 1].strip(), first[1] * 2, 3
    text, under = lines[at].rstrip(), _ADORNMENT.match(lines[at + 1])
    if not under or not text or text[0].isspace():
        return None
    # docutils takes a shorter underline only from four characters on.
    length = len(under[0].rstrip())
    return (text, under[1], 2) if length >= min(len(text), 4) else None


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Line ranges of literal blocks, directives and tables, as [first, last)."""
    at = no_table = 0
    while at < len(lines):
        line = lines[at]
        last = at + 1
        if _GRID.match(line):
            while last < len(lines) and lines[last].startswith(("+", "|")):
                last += 1
        elif at >= no_table and _SIMPLE.match(line):
            end = _simple_table_end(lines, at)
            # A border without an end is looked at once, however many borders follow it.
            no_table, last = (0, end) if end > 0 else (-end, last)
        elif line.rstrip().endswith("::") or _DIRECTIVE.match(line.lstrip()):
            last = _indented_end(lines, at)
        if last - at > 1:
            yield at, last
        at = last


def _simple_table_end(lines: list[str], at: int) -> int:
    """Behind the last border of a simple table: a border with a blank line or the end after it.

    Without one, the negative number of the line up to which it was looked for.
    """
    last = at + 1
    while last < len(lines) and last - at < 1000:
        if _SIMPLE.match(lines[last]) and not "".join(lines[last + 1 : last + 2]).strip():
            return last + 1
        last += 1
    return -last


def _indented_end(lines: list[str], at: int) -> int:
    """Behind the last line that is indented deeper than line `at`."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    last = end = at + 1
    while last < len(lines):
        line = lines[last]
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = last + 1
        last += 1
    return end


def _links(text: str, source: str) -> Iterator[Link]:
    found: list[tuple[str, str]] = [(match[2], match[1]) for match in _INLINE_LINK.finditer(text)]
    found += [(match[1], "") for match in _TARGET.finditer(text) if not match[1].endswith("_")]
    found += [(match[0], "") for match in _BARE.finditer(text)]
    for match in _DOC_ROLE.finditer(text):
        # The role names a document without its suffix.
        found.append((f"{match[2].strip()}.rst", match[1] or ""))
    for href, words in found:
        link = resolve_link(href, source, words)
        if link:
            yield link
