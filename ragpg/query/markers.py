"""Finds citation markers in an answer: [1], [1, 4], [2-5], [1]–[3], [^1], 【1】, [Source 1].

What looks alike and is none stays untouched: code in fences and backticks, links and their
definitions, footnote definitions, array indexes, and text quoted from a source.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ragpg.words import UNSPACED, find_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DASH = "‐‑‒–—−-"
_BRACKETS = {"[": "]", "【": "】", "［": "］", "〔": "〕"}
_OPEN, _CLOSE = re.escape("".join(_BRACKETS)), re.escape("".join(_BRACKETS.values()))
#: What models write before a number: "Source 1", "citation:1", and the same in other languages.
_LABEL = (
    r"(?:(?:sources?|citations?|refs?|references?|docs?|documents?|passages?|quellen?|fuentes?|fontes?"
    r"|источник)\b|来源|來源|出典)\s*[:：#]?\s*"
)
_MARKER = re.compile(
    rf"(?P<open>[{_OPEN}])(?P<foot>\^)?\s*(?:{_LABEL})?(?P<body>[^{_OPEN}{_CLOSE}\n†]{{1,200}})"
    rf"(?:†[^{_OPEN}{_CLOSE}\n]{{0,80}})?(?P<close>[{_CLOSE}])",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"[,;&،؛、，；]|\s(?:and|und|et|y|e|i|и|og|och|en)\s|和|及|と|\sو\s?", re.IGNORECASE
)
_PART = re.compile(rf"(?P<low>[{_DASH}]?\w+)(?:\s*[{_DASH}]\s*(?P<high>\w+))?")
_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n.*?(?:^ {0,3}(?P=fence)[^\n]*$|\Z)",
    re.M | re.S,
)
_TICKS = re.compile(r"`+")
_LINK = re.compile(r"!?\[[^\[\]\n]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:", re.M)
# None holds its own beginning: a text of nothing but those would be read over and over.
_QUOTE = re.compile(
    r"\"(?P<a>[^\"\n]+)\"|“(?P<b>[^“”\n]+)”|«(?P<c>[^«»\n]+)»|„(?P<d>[^„“”\n]+)[“”]"
)
_QUOTE_BLOCK = re.compile(r"^ {0,3}>[^\n]*$", re.M)
# Where words stand without blanks, so does what follows them.
_IN_WORD = re.compile(rf"[^\W{UNSPACED}]|\]")
_PHRASE_END = re.compile(r"\s*(?:[.,;:!?)。，、；：！？）।॥؟،؛…]|$)")
#: Between [1] and [3]: all from the one to the other.
_UP_TO = re.compile(f"[{_DASH}]")
#: ① to ⑳.
_CIRCLED = "".join(map(chr, range(0x2460, 0x2474)))
#: A range is written out up to this many numbers; of a longer one only its ends are kept.
_LONGEST_RANGE = 100


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: text[start:end] is the brackets and all in them.

    `numbers` are as written, in order, ranges written out, without repetition; they may name no
    source at all (0, -1, 99).
    """

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(answer: str, sources: Sequence[str] = ()) -> list[Marker]:
    """The citation markers of an answer, in order.

    `sources` are the texts the answer may quote: a bracketed number inside a quotation that
    stands in one of them belongs to the quotation. A bracket right behind a word ("days[1]") is
    a marker only when the answer has no detached ones, it ends its phrase, and the same word
    carries no other index; otherwise it is an array index.
    """
    hidden = _hidden_spans(answer, sources)
    detached: list[Marker] = []
    attached: list[tuple[str, Marker]] = []
    last_end = -1
    for found in _MARKER.finditer(answer):
        if _BRACKETS[found["open"]] != found["close"]:
            continue
        if hidden.covers(found.start()):
            continue
        numbers = _numbers(found["body"])
        if not numbers:
            continue
        marker = Marker(found.start(), found.end(), numbers)
        before = answer[found.start() - 1 : found.start()]
        if not _IN_WORD.match(before) or found["foot"] or last_end == found.start():
            last_end = found.end()
            if not _joined(detached, marker, answer):
                detached.append(marker)
        elif before != "]":
            attached.append((_word_before(answer, found.start()), marker))
    if detached:
        return detached
    indexes: dict[str, set[tuple[int, ...]]] = {}
    for word, marker in attached:
        indexes.setdefault(word, set()).add(marker.numbers)
    return [
        marker
        for word, marker in attached
        if word.isalpha()
        and len(word) > 2
        and _PHRASE_END.match(answer, marker.end)
        and len(indexes[word]) == 1
    ]


def _joined(markers: list[Marker], last: Marker, answer: str) -> bool:
    """Whether a marker ends a range that the one before it begins, as in [1]–[3]: then it is made
    a part of that one."""
    first = markers[-1] if markers else None
    if first is None or not _UP_TO.fullmatch(answer, first.end, last.start):
        return False
    if len(first.numbers) > 1 or len(last.numbers) > 1:
        return False
    numbers = _range(first.numbers[0], last.numbers[0])
    markers[-1] = Marker(first.start, last.end, numbers)
    return True


def _word_before(answer: str, end: int) -> str:
    start = end
    while start and _IN_WORD.match(answer[start - 1]):
        start -= 1
    return answer[start:end]


class _Hidden:
    """Spans of an answer, to be asked what they cover."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._reach: list[int] = []

    def add(self, spans: Iterable[tuple[int, int]]) -> None:
        rows = sorted([*zip(self._starts, self._reach, strict=True), *spans])
        self._starts = [start for start, _ in rows]
        # How far any span up to this one reaches: they may lie inside each other.
        self._reach = list(accumulate((end for _, end in rows), max))

    def covers(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._reach[at]


def _outside(spans: _Hidden, pattern: re.Pattern[str], answer: str) -> list[tuple[int, int]]:
    return [found.span() for found in pattern.finditer(answer) if not spans.covers(found.start())]


def _code(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Code in backticks: from a run of them to the next run of the same length."""
    following: list[int | None] = [None] * len(runs)
    last: dict[int, int] = {}
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        following[at] = last.get(length)
        last[length] = at
    spans = []
    at = 0
    while at < len(runs):
        end = following[at]
        if end is not None:
            spans.append((runs[at][0], runs[end][1]))
        at = at + 1 if end is None else end + 1
    return spans


def _hidden_spans(answer: str, sources: Sequence[str]) -> _Hidden:
    spans = _Hidden()
    spans.add(_outside(spans, _FENCE, answer))
    spans.add(_code(_outside(spans, _TICKS, answer)))
    for pattern in (_LINK, _DEFINITION):
        spans.add(_outside(spans, pattern, answer))
    quoted = []
    known: dict[str, bool] = {}
    for found in (*_QUOTE.finditer(answer), *_QUOTE_BLOCK.finditer(answer)):
        quote = next((part for part in found.groupdict().values() if part), found[0])
        quote = quote.lstrip("> ")
        # Only quotations with a bracket in them can hide one, and comparing costs time.
        if not any(one in quote for one in _BRACKETS):
            continue
        if quote not in known:
            known[quote] = any(find_quote(quote, source) for source in sources)
        if known[quote]:
            quoted.append(found.span())
    spans.add(quoted)
    return spans


def _numbers(body: str) -> tuple[int, ...]:
    """The numbers of a marker's inside; () when it holds anything that is no number."""
    numbers: list[int] = []
    # Marks of direction, and blanks of no width, stand beside digits in some scripts.
    body = "".join(one for one in body if unicodedata.category(one) != "Cf")
    for part in _SEPARATOR.split(body):
        if not part.strip():
            continue
        found = _PART.fullmatch(part.strip())
        low = _number(found["low"]) if found else None
        high = _number(found["high"]) if found and found["high"] else low
        if low is None or high is None:
            return ()
        numbers.extend(_range(low, high))
    return tuple(dict.fromkeys(numbers))


def _range(low: int, high: int) -> tuple[int, ...]:
    """All numbers from one to another, of many only these two."""
    whole = low <= high <= low + _LONGEST_RANGE
    return tuple(range(low, high + 1)) if whole else (low, high)


def _number(text: str) -> int | None:
    """A decimal number in any script with a minus or without, or one circled digit."""
    digits = text.lstrip(_DASH)
    sign = 1 if digits == text else -1
    if digits.isdecimal():
        # Longer numbers name no source, and int() refuses thousands of digits.
        return sign * int(digits[:30])
    if len(digits) == 1 and digits in _CIRCLED:
        return sign * int(unicodedata.numeric(digits))
    return None
