"""Numbers and dates of a sentence, with unit and bound, so that two sentences can be compared.

"at most 40 EUR" is the value 40 in EUR with an upper bound; "3 March 2025" is a date. English
words are known throughout, units and bounds also in German, French and Spanish.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ragpg.query.bounds import bound_of, limit_of
from ragpg.query.dates import take_dates
from ragpg.query.units import NUMBER_WORDS, SCALES, UNITS
from ragpg.words import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.bounds import Bound, Limit
    from ragpg.query.dates import Date


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number. `values` holds each reading of it ("1.000" is 1 or 1000), in base units.

    `dimension` is "time", "EUR", "percent"... or "" without a known unit; `noun` is the word
    behind it then. A `soft` one ("a year", "first") need not be in the evidence. `digits` are its
    figures as written, of a spelled one none.
    """

    text: str
    values: frozenset[float]
    dimension: str = ""
    unit: str = ""
    noun: str = ""
    bound: Bound = ""
    soft: bool = False
    limit: Limit = ""
    digits: str = ""


_ORDINALS_SPELLED = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = _ORDINALS_SPELLED.split()
#: Marks between thousands. A plain blank counts only where there are several, as in 1 234 567; and
#: Indian numbers have two digits in a group, as in 12,34,567.
_GROUP = ",'’\u00a0\u202f\u2009"
_GROUPED = (
    rf"\d{{1,3}}(?:[{_GROUP}]\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?: \d{{3}}){{2,}}(?:[.,]\d+)?"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"
)
_DIGITS = rf"(?:{_GROUPED})(?![\d])|\d+(?:[.,]\d+)*"
#: Arabic marks for decimals and thousands.
_MARKS = str.maketrans("٫٬", ".,")
_MINUS = re.compile(r"\bminus (?=\d)", re.IGNORECASE)
# Letters that make a digit behind them part of a name; Chinese ones stand beside plain numbers.
_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_SPELLED = "|".join(sorted([*NUMBER_WORDS, "dozen"], key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<currency>[$€£¥]|\b(?:eur|usd|gbp|chf|jpy)\s)?\s*(?<![{_LATIN}\d_.])(?P<sign>[-−+](?=\d))?"
    rf"(?:(?P<digits>{_DIGITS})|(?P<spelled>\b(?:{_SPELLED})(?:[\s-](?:{_SPELLED}))*\b))"
    rf"(?P<scale>\s?(?:hundred|thousand|million|billion|trillion)\b|(?:k|bn|mio|mrd)\b|m\b(?=[^\w]|$)|[千천万萬만亿億억])?"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?(?=(?P<after>(?:[\s-]*[^\W\d_]+|\s*[%€$£°µμ]\w?)?(?:\s+[^\W\d_]+){0,2}))",
    re.I,
)
_PER_THOUSAND = re.compile(r"\s*per (?:thousand|1,?000)\b")
_FUNCTION = STOPWORDS - {"am"}
_ARTICLE_UNIT = re.compile(
    r"\b(?:an?|one|per|each|every)\s+(?P<unit>second|minute|hour|day|week|month|quarter|year)\b",
    re.I,
)
_ORDINAL = re.compile(rf"\b(?P<word>{'|'.join(_ORDINALS[1:])})\s+(?P<noun>[^\W\d_]+)", re.I)


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Sequence[Quantity], Sequence[Date]]:
    """Numbers and dates of a text in order; a date's digits are not given as numbers again."""
    text, dates = take_dates(_MINUS.sub("-", text.translate(_MARKS)))
    lower = text.lower()
    numbers = [quantity for found in _NUMBER.finditer(lower) if (quantity := _number(lower, found))]
    for found in _ARTICLE_UNIT.finditer(lower):
        dimension, factor = UNITS.get(found["unit"], ("time", 0.0))
        bound = bound_of(lower, found.start(), found.end())
        numbers.append(
            Quantity(found[0], frozenset([factor]), dimension, found["unit"], "", bound, soft=True)
        )
    for found in _ORDINAL.finditer(lower):
        value = float(_ORDINALS.index(found["word"]))
        bound = bound_of(lower, found.start(), found.end("word"))
        numbers.append(
            Quantity(found["word"], frozenset([value]), "ordinal", "", found["noun"], bound, True)
        )
    return numbers, dates


def _number(lower: str, found: re.Match[str]) -> Quantity | None:
    digits, spelled = found["digits"], found["spelled"]
    start = found.start("digits") if digits else found.start("spelled")
    before = lower[max(start - 2, 0) : start]
    # utf-8, us-east-1, x2: part of a name, which is compared as a name.
    if digits and re.search(rf"[{_LATIN}][-_/]?$", before):
        return None
    values = _values(digits) if digits else _spelled(spelled)
    if not values:
        return None
    unit, noun = _unit((found["currency"] or "").strip(), found["after"])
    if spelled in ("one", "zero") and unit is None:
        return None
    if unit is None and _PER_THOUSAND.match(lower, found.start("after")):
        unit = "‰"
    scale = (found["scale"] or "").strip()
    # "5 m" is five metres; "$5m" is five million.
    if scale == "m" and not found["currency"]:
        scale, unit = "", "m"
    factor = SCALES.get(scale, 1.0)
    if found["sign"] in ("-", "−") and not re.match(
        r"[\w)%]", lower[max(found.start("sign") - 1, 0) : found.start("sign")]
    ):
        factor = -factor
    dimension, unit_factor = UNITS[unit] if unit else ("", 1.0)
    end = found.end("ordinal") if found["ordinal"] else found.start("after")
    return Quantity(
        text=lower[start:end].strip(),
        values=frozenset(round(value * factor * unit_factor, 12) for value in values),
        dimension="ordinal" if found["ordinal"] else dimension,
        unit=unit or "",
        noun=noun,
        bound=bound_of(lower, found.start(), end),
        limit=limit_of(lower, found.start(), end),
        digits=digits or "",
    )


def _values(digits: str) -> set[float]:
    if re.fullmatch(_GROUPED, digits):
        decimal = re.search(r" \d{3},(\d+)$", digits)
        whole = digits[: decimal.start(1) - 1] if decimal else digits
        return {float(re.sub(rf"[{_GROUP} ]", "", whole) + (f".{decimal[1]}" if decimal else ""))}
    marks = re.findall(r"[.,]", digits)
    if len(marks) > 1:
        # A version or an address; the hash of its text stands for it. 1.000.000 is a number too.
        grouped = re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d+)?", digits)
        own = zlib.crc32(digits.encode()) + 0.125
        return {own} | ({float(digits.replace(".", "").replace(",", "."))} if grouped else set())
    values = {float(digits.replace(",", "."))}
    if re.fullmatch(r"\d{1,3}\.\d{3}", digits):
        values.add(float(digits.replace(".", "")))
    return values


def _spelled(text: str) -> set[float]:
    total = 0.0
    for word in re.split(r"[\s-]", text):
        total = max(total, 1.0) * 12 if word == "dozen" else total + NUMBER_WORDS[word]
    return {total}


def _unit(currency: str, after: str) -> tuple[str | None, str]:
    """The unit among the words behind a number, and the first of these words."""
    if currency in UNITS:
        return currency, ""
    following = re.findall(r"[%€$£]|[°]?[^\W\d_]+", after)
    for place, word in enumerate(following):
        for length in (3, 2, 1):
            # Without blanks the unit is the beginning of what follows: 14天内.
            if not word[0].isascii() and word[:length] in UNITS and word not in UNITS:
                return word[:length], ""
        # Behind other words only whole words count: "14 business days", not "14 of m".
        if word in UNITS and (place == 0 or len(word) > 3):
            return word, ""
        if word in ("and", "or", "to", "of", "the", "in", "for", "per"):
            break
    # "am" is a word without meaning elsewhere.
    return None, following[0] if following and following[0] not in _FUNCTION else ""
