"""What introduces a list or a table of which nothing is left: it goes with its last entry.

"The options are:" above three options that no source supports would promise what does not follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    Span = tuple[int, int]

_ITEM = re.compile(r"[ \t>]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
#: What stands behind the colon of a lead-in: emphasis, citations.
_TAIL = re.compile(r"(?:[*_\s]|\[\d[\d,\s–-]*\])+$")
#: What may be left of a line whose text is dropped.
_BARE = " \t>-*+•_.)(0123456789|"


@dataclass(slots=True)
class _Line:
    start: int
    end: int
    text: str
    gone: bool
    code: bool

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    @property
    def item(self) -> bool:
        return not self.code and _ITEM.match(self.text) is not None

    @property
    def row(self) -> bool:
        return not self.code and _ROW.match(self.text) is not None

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    @property
    def introduces(self) -> bool:
        return not self.code and _TAIL.sub("", self.text).endswith((":", "："))


def emptied(text: str, dropped: Sequence[Span]) -> list[Span]:
    """Further spans of a text that go when these are dropped: the head and rule of a table that
    loses all its rows, and the sentence with a colon above a list or table that loses everything.

    A lead-in of which something is left below stays, and so does a heading. From the end to the
    beginning, so that an item with a list of its own goes before the list that it is in.
    """
    lines = _lines(text, dropped)
    found: list[Span] = []
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line.row and not line.gone and _loses_its_rows(lines, at):
            found += [(one.start, one.end) for one in lines[at : at + 2]]
            lines[at].gone = lines[at + 1].gone = True
        elif line.introduces and not line.gone and not line.row:
            below = _block(lines, at)
            if below and all(one.gone for one in below):
                span = _last_sentence(text, lines, at)
                found.append(span)
                line.gone = not text[line.start : span[0]].strip(_BARE) or span[0] < line.start
    return found


def _lines(text: str, dropped: Sequence[Span]) -> list[_Line]:
    lines, start, code, first = [], 0, False, 0
    spans = sorted(dropped)
    for part in text.split("\n"):
        end = start + len(part)
        fence = _FENCE.match(part) is not None
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        left, at, place = "", start, first
        while place < len(spans) and spans[place][0] < end:
            low, high = spans[place]
            left += text[at : max(low, at)]
            at, place = min(high, end), place + 1
        gone = place > first and not (left + text[at:end]).strip(_BARE)
        lines.append(_Line(start, end, part, gone, code or fence))
        code ^= fence
        start = end + 1
    return lines


def _loses_its_rows(lines: Sequence[_Line], at: int) -> bool:
    """Whether a head with its rule stands here, and no row below it is left."""
    if at + 2 >= len(lines) or not _RULE.fullmatch(lines[at + 1].text):
        return False
    rows = []
    for line in lines[at + 2 :]:
        if not line.row:
            break
        rows.append(line)
    return bool(rows) and all(row.gone for row in rows)


def _block(lines: Sequence[_Line], at: int) -> list[_Line]:
    """The lines, blank ones left out, of the list or table that a line introduces."""
    first = next((n for n in range(at + 1, len(lines)) if not lines[n].blank), None)
    if first is None or not (lines[first].item or lines[first].row):
        return []
    head = lines[first]
    if lines[at].item and not head.indent > lines[at].indent:
        return []
    found = []
    for place in range(first, len(lines)):
        line = lines[place]
        if line.blank:
            continue
        apart = lines[place - 1].blank
        if head.row:
            inside = line.row and not (apart and place > first)
        elif line.item:
            inside = line.indent >= head.indent
        else:
            # A further line of an item; a paragraph of its own only where it is indented.
            inside = line.indent > head.indent or not apart
        if not inside:
            break
        found.append(line)
    return found


def _last_sentence(text: str, lines: Sequence[_Line], at: int) -> Span:
    """The last sentence of the paragraph that ends with this line."""
    first = at
    while first > 0 and not lines[first].item and not lines[first - 1].blank:
        if lines[first - 1].row or lines[first - 1].code or lines[first - 1].text.startswith("#"):
            break
        first -= 1
    start, end = lines[first].start, lines[at].end
    mark = _ITEM.match(text, start, end)
    start = mark.end() if mark else start
    *_, (low, _) = split_sentences(text[start:end]) or [(0, 0)]
    return start + low, end
