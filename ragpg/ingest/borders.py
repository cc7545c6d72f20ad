"""Where a text may be cut: paragraphs, lines, sentences, words, visible characters.

All functions take and give character offsets of the whole text and look only at [low, high), so
that a chunker can ask about one window of a long document.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left

from ragpg.sentences import split_sentences

#: Blank lines; the match ends where the next paragraph's line starts. Possessive: never quadratic.
_BLANK_LINES = re.compile(r"\n(?:[ \t\u00a0\u3000]*+\n)++")

_ZERO_WIDTH_JOINER = "\u200d"


def paragraph_starts(text: str, low: int, high: int) -> list[int]:
    """Starts of the lines that follow a blank line, in [low, high), in order."""
    return [match.end() for match in _BLANK_LINES.finditer(text, low, high) if match.end() < high]


def line_start_before(text: str, low: int, high: int) -> int:
    """The last line start in (low, high], or -1."""
    return text.rfind("\n", low, high) + 1 or -1


def sentence_starts(text: str, low: int, high: int) -> list[int]:
    """Starts of sentences in (low, high), in order; `low` itself is not one of them."""
    spans = split_sentences(text[low:high])
    starts = (low + start for start, _ in spans[1:])
    return [start for start in starts if is_grapheme_border(text, start, low)]


def word_start_before(text: str, low: int, high: int) -> int:
    """The last place in (low, high] with white space on its left or right, or -1."""
    if high < len(text) and text[high].isspace():
        return high
    for position in range(high, low, -1):
        if text[position - 1].isspace():
            return position
    return -1


def word_start_after(text: str, low: int, high: int) -> int:
    """The first word start in [low, high), or -1."""
    for position in range(max(low, 1), high):
        if text[position - 1].isspace() and not text[position].isspace():
            return position
    return 0 if low == 0 and high > 0 and not text[0].isspace() else -1


def is_grapheme_border(text: str, position: int, low: int) -> bool:
    """Whether a cut here leaves every visible character whole (UAX 29, its common rules).

    Covers combining marks, variation selectors, emoji modifiers, joined emoji, flags and Hangul
    jamo. `low` is a known border; nothing before it is looked at.
    """
    if position <= low or position >= len(text):
        return True
    after = text[position]
    before = text[position - 1]
    # Latin text leaves here: nothing below U+0300 but the soft hyphen extends a character.
    if after < "\u0300" and before < "\u0300":
        return True
    if before == _ZERO_WIDTH_JOINER or _extends(after):
        return False
    if _is_regional(after) and _is_regional(before):
        run = 0
        while position - run > low and _is_regional(text[position - run - 1]):
            run += 1
        return run % 2 == 0
    return not _is_jamo_pair(before, after)


def grapheme_border_before(text: str, low: int, high: int) -> int:
    """The last grapheme border in (low, high], or -1 when one character fills it all."""
    for position in range(high, low, -1):
        if is_grapheme_border(text, position, low):
            return position
    return -1


def _extends(char: str) -> bool:
    if char < "\u0300":
        return False
    code = ord(char)
    return (
        char == _ZERO_WIDTH_JOINER
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of subdivision flags
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_jamo_pair(before: str, after: str) -> bool:
    """Hangul: leading consonant + vowel, syllable or vowel + vowel, + trailing consonant."""
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    if "\u1160" <= before <= "\u11a7" or "\uac00" <= before <= "\ud7a3":
        return "\u1160" <= after <= "\u11ff"
    return "\u11a8" <= before <= "\u11ff" and "\u11a8" <= after <= "\u11ff"


def last_between(positions: list[int], low: int, high: int) -> int:
    """The last of the sorted positions in (low, high], or -1."""
    index = bisect_left(positions, high + 1) - 1
    return positions[index] if index >= 0 and positions[index] > low else -1
