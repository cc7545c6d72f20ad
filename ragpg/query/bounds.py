"""Bounds of numbers and dates: at most, at least, more than, exactly, about."""

from __future__ import annotations

import re
from typing import Literal

Bound = Literal["", "max", "min"]
#: Whether a bound itself is inside: "at least 10" has 10, "more than 10" has not, "exactly 10" has
#: nothing else, and "about 10" what is near.
Limit = Literal["", "closed", "open", "exact", "near"]


_BOUNDS: tuple[tuple[Bound, str], ...] = (
    (
        "max",
        r"at (?:the )?most|up to|(?:no|not) (?:more|longer|later|greater|higher|larger) than|"
        r"(?:not|never) (?:to )?exceed(?:s|ing)?|max(?:imum|imal)?(?: of| is)?|"
        r"limit(?:ed)? (?:to|of|is)|"
        r"(?:less|fewer|lower|shorter|smaller|earlier) than|under|below|within|inside|until|till|"
        r"before|[<≤]=?|hochstens|bis zu|innerhalb|vor|au plus|moins de|como maximo|menos de",
    ),
    (
        "min",
        r"at (?:the )?least|not before|"
        r"(?:no|not) (?:less|fewer|lower|shorter|smaller|earlier) than|"
        r"min(?:imum)?(?: of| is)?|(?:more|greater|longer|higher|larger|later) than|over|above|"
        r"exceed(?:s|ing|ed)?|after|beyond|from|since|starting(?: on| from)?|[>≥]=?|mindestens|"
        r"mehr als|nach|ab|seit|au moins|plus de|al menos|mas de",
    ),
)
_FILLER = r"(?:\s+(?:the|an?|about|around|of|its|their|only))*"
_BEFORE = tuple(
    (
        bound,
        re.compile(rf"(?:^|[^\w])(?:{words}){_FILLER}\s*$"),
    )
    for bound, words in _BOUNDS
)
_AFTER: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    (
        "max",
        re.compile(
            r"^[\s\w%€$£]{0,16}\b(?:or|and) (?:less|fewer|earlier|below|under)\b|^\W{0,2}at most"
        ),
    ),
    (
        "min",
        re.compile(
            r"^[\s\w%€$£]{0,16}\b(?:or|and) (?:more|later|above|over)\b|^\s?\+|^\W{0,2}at least"
        ),
    ),
)


_LIMIT_WORDS: tuple[tuple[Limit, str], ...] = (
    ("exact", r"exactly|precisely|genau|exactement|exactamente"),
    (
        "closed",
        r"at (?:the )?(?:least|most)|(?:no|not) (?:more|less|fewer) than|mindestens|hochstens",
    ),
    ("open", r"(?:more|less|fewer|greater) than|over|exceed(?:s|ing|ed)?|mehr als"),
    (
        "near",
        r"about|around|approximately|roughly|nearly|almost|some|circa|ca\.?|approx\.?|[~≈]"
        r"|etwa|ungefahr|rund|environ|unos|unas|cerca de",
    ),
)
_LIMITS: tuple[tuple[Limit, re.Pattern[str]], ...] = tuple(
    [(limit, re.compile(rf"(?:^|[^\w])(?:{words})\s*$")) for limit, words in _LIMIT_WORDS]
)
_OR_MORE = re.compile(r"^[\s\w%€$£]{0,16}\bor (?:more|less|fewer)\b")


def bound_of(lower: str, start: int, end: int) -> Bound:
    """Whether what stands at a place of a text in lower case is a bound."""
    before = lower[max(start - 40, 0) : start]
    # The longest phrase counts: "not before" holds "before", "no less than" holds "less than".
    phrases = [(len(found[0]), bound) for bound, one in _BEFORE if (found := one.search(before))]
    if phrases:
        return max(phrases)[1]
    for bound, pattern in _AFTER:
        if pattern.search(lower[end : end + 40]):
            return bound
    return ""


def limit_of(lower: str, start: int, end: int) -> Limit:
    """How a number at a place of a text in lower case is meant."""
    before, after = lower[max(start - 30, 0) : start], lower[end : end + 40]
    for limit, pattern in _LIMITS:
        if pattern.search(before):
            return limit
    return "closed" if _OR_MORE.search(after) else ""
