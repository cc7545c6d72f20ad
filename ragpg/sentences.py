"""Sentences of a text with their exact offsets.

The boundaries come from sentencex (Wikimedia, MIT, about 300 languages, a compiled rule engine:
0.02 ms for 1,400 characters). Its pieces lie end to end over the text, so offsets are exact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The time of the library grows with the square of the quotation marks of a text: 80,000 backticks
#: take 2 s. Longer texts are looked at in parts of so many characters.
_MOST = 10_000
_ENDS, _BLANKS = ("\n\n", ". ", "。"), ("\n", " ")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Marks that belong to the sentence before them: closing emphasis, quotes, brackets, [2], [^2].
#: Possessive, because a line of asterisks could be parted in exponentially many ways.
_TAIL = re.compile(r"(?:[*_]++|[\"'”’»)\]]|\s?\[\^?\d+(?:\s*[,–-]\s*\d+)*\])+(?=\s|$)")


def _pieces(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Start and end of what the library takes for sentences, found in parts of the text."""
    # Only the sentence stages need the library; importing ragpg must not load it.
    from sentencex import get_sentence_boundaries

    begun: int | None = None
    start = 0
    while start < len(text):
        end, ends = _cut(text, start)
        found = [
            (start + int(piece["start_index"]), start + int(piece["end_index"]))
            for piece in get_sentence_boundaries(language, text[start:end])
        ]
        if begun is not None and found:
            found[0] = (begun, found[0][1])
        # What was cut in the middle goes on in the next part.
        begun = None if ends or not found else found.pop()[0]
        yield from found
        start = end


def _cut(text: str, start: int) -> tuple[int, bool]:
    """Where a part that starts here ends, and whether a sentence ends there."""
    last = start + _MOST
    if last >= len(text):
        return len(text), True
    for mark in (*_ENDS, *_BLANKS):
        at = text.rfind(mark, start + _MOST // 2, last)
        if at >= 0:
            return at + len(mark), mark in _ENDS
    return last, False


def split_sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Start and end of each sentence, without the white space around it, in order.

    A blank line or a line end in a list also ends a sentence. `language` is an ISO 639 code; the
    rules of "en" serve most languages, including those without blanks between words.
    """
    # The library refuses lone surrogates; a stand-in of the same length keeps the offsets.
    clean = _SURROGATE.sub("\ufffd", text)
    spans: list[tuple[int, int]] = []
    for start, end in _pieces(clean, language):
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        tail = _TAIL.match(text, start, end) if spans else None
        if tail and "\n" not in text[spans[-1][1] : start]:
            spans[-1] = (spans[-1][0], tail.end())
            start = tail.end()
            while start < end and text[start].isspace():
                start += 1
        if start < end:
            spans.append((start, end))
    return spans
