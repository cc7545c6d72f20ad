"""Numbers and dates of a sentence, with unit and bound, so that two sentences can be compared.

"at most 40 EUR" is the value 40 in EUR with an upper bound; "3 March 2025" is a date. English
words are known throughout, units and bounds also in German, French and Spanish.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from ragpg.words import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

Bound = Literal["", "max", "min"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number. `values` holds each reading of it ("1.000" is 1 or 1000), in base units.

    `dimension` is "time", "EUR", "percent"... or "" without a known unit; `noun` is the word
    behind it then. A `soft` one ("a year", "first") need not be in the evidence.
    """

    text: str
    values: frozenset[float]
    dimension: str = ""
    unit: str = ""
    noun: str = ""
    bound: Bound = ""
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    """A date with the parts that were written; `swapped` when day and month cannot be told."""

    text: str
    year: int | None
    month: int | None
    day: int | None
    bound: Bound = ""
    swapped: bool = False

    def agrees(self, other: Date) -> bool:
        """Whether no part that both have differs."""
        if self.year and other.year and self.year != other.year:
            return False
        if self.swapped or other.swapped:
            return {self.month, self.day} == {other.month, other.day}
        pairs = ((self.month, other.month), (self.day, other.day))
        return all(mine is None or its is None or mine == its for mine, its in pairs)


def _table(text: str) -> dict[str, tuple[str, float]]:
    units = {}
    for line in text.strip().splitlines():
        dimension, factor, names = line.split(maxsplit=2)
        units.update({name: (dimension, float(factor)) for name in names.split()})
    return units


#: Name of a unit to its dimension and its size in the base unit.
UNITS = _table("""
time 1e-6 us µs μs microsecond microseconds
time 1e-3 ms millisecond milliseconds
time 1 秒 秒钟 초
time 60 分 分钟 分鐘 분
time 3600 小时 小時 时间 時間 시간
time 86400 天 日 일
time 604800 周 週 星期 週間 주
time 2629800 个月 個月 ヶ月 か月 月 개월
time 31557600 年 년
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundos
time 60 min mins minute minutes minuten minutos
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas
time 86400 d day days tag tage tagen jour jours dia dias
time 604800 week weeks woche wochen semaine semaines semana semanas
time 2629800 month months monat monate monaten mois mes meses
time 31557600 y yr yrs year years jahr jahre jahren an ans annee annees ano anos
data 1 byte bytes
data 1e3 kb kilobyte kilobytes
data 1e6 mb megabyte megabytes
data 1e9 gb gigabyte gigabytes
data 1e12 tb terabyte terabytes
data 1024 kib
data 1048576 mib
data 1073741824 gib
length 1e-9 nm
length 1e-3 mm millimeter millimeters millimetres
length 1e-2 cm centimeter centimeters centimetres
length 1 m meter meters metre metres
length 1e3 km kilometer kilometers kilometre kilometres
length 0.0254 inch inches
length 0.3048 ft feet foot
length 1609.344 mile miles
mass 1e-9 µg μg mcg
mass 1e-6 mg milligram milligrams
mass 1e-3 g gram grams
mass 1 kg kilogram kilograms kilo kilos
mass 1e3 ton tons tonne tonnes
mass 0.45359237 lb lbs pound-mass
volume 1e-3 ml milliliter milliliters millilitres
volume 1 l liter liters litre litres
celsius 1 °c celsius
fahrenheit 1 °f fahrenheit
percent 1 % percent prozent pourcent
per-thousand 1 ‰ promille permille
basis-point 1 bp bps
CNY 1 元 人民币
KRW 1 원 krw
EUR 1 € eur 欧元 euro euros
USD 1 $ usd 美元 dollar dollars
GBP 1 £ gbp pound pounds
JPY 1 ¥ jpy yen 円 日元
CHF 1 chf franken francs
power 1 w watt watts
power 1e3 kw kilowatt kilowatts
power 1e6 mw megawatt megawatts
""")
_UNITS_SPELLED = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS_SPELLED = "twenty thirty forty fifty sixty seventy eighty ninety"
#: Spelled numbers below 100, by tens and units.
NUMBER_WORDS = {word: at for at, word in enumerate(_UNITS_SPELLED.split())} | {
    word: at * 10 for at, word in enumerate(_TENS_SPELLED.split(), start=2)
}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_LETTER_SCALES = {"k": 1e3, "m": 1e6, "bn": 1e9, "mio": 1e6, "mrd": 1e9}
_ORDINALS_SPELLED = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = _ORDINALS_SPELLED.split()
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
#: Names of months, full and short, to their numbers.
MONTHS = {
    name: at
    for at, month in enumerate(_MONTH_NAMES.split(), start=1)
    for name in (month, month[:3], "sept" if month == "september" else month)
}
_MONTH_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\d.])(?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<name>{_MONTH_NAME})\b\.?"
        r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
        re.I,
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH_NAME})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]*\d)"
        r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
        re.I,
    ),
    re.compile(rf"\b(?P<name>{_MONTH_NAME})\b\.?,?\s+(?P<y>\d{{4}})(?!\d)", re.I),
)
_DIGITS = r"\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?:\.\d+)?(?![\d])|\d+(?:[.,]\d+)*"
# Letters that make a digit behind them part of a name; Chinese ones stand beside plain numbers.
_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_SPELLED = "|".join(sorted([*NUMBER_WORDS, "dozen"], key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<currency>[$€£¥]|\b(?:eur|usd|gbp|chf|jpy)\s)?\s*(?<![{_LATIN}\d_.])(?P<sign>[-−+](?=\d))?"
    rf"(?:(?P<digits>{_DIGITS})|(?P<spelled>\b(?:{_SPELLED})(?:[\s-](?:{_SPELLED}))*\b))"
    rf"(?P<scale>\s?(?:hundred|thousand|million|billion|trillion)\b|(?:k|bn|mio|mrd)\b|m\b(?=[^\w]|$))?"
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


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Sequence[Quantity], Sequence[Date]]:
    """Numbers and dates of a text in order; a date's digits are not given as numbers again."""
    dates: list[Date] = []
    for pattern in _DATES:
        text = pattern.sub(partial(_taken, text, dates), text)
    lower = text.lower()
    numbers = [quantity for found in _NUMBER.finditer(lower) if (quantity := _number(lower, found))]
    for found in _ARTICLE_UNIT.finditer(lower):
        dimension, factor = UNITS.get(found["unit"], ("time", 0.0))
        bound = _bound(lower, found.start(), found.end())
        numbers.append(
            Quantity(found[0], frozenset([factor]), dimension, found["unit"], "", bound, soft=True)
        )
    for found in _ORDINAL.finditer(lower):
        value = float(_ORDINALS.index(found["word"]))
        bound = _bound(lower, found.start(), found.end("word"))
        numbers.append(
            Quantity(found["word"], frozenset([value]), "ordinal", "", found["noun"], bound, True)
        )
    return numbers, dates


def _taken(text: str, dates: list[Date], found: re.Match[str]) -> str:
    """Blanks in the place of a date, which joins the others."""
    date = _date(text, found)
    if date is None:
        return found[0]
    dates.append(date)
    return " " * len(found[0])


def _date(text: str, found: re.Match[str]) -> Date | None:
    parts = found.groupdict()
    name = parts.get("name")
    # "may 3 users" and "march 20 miles" are no dates.
    if name and name.lower() in ("may", "march", "mar") and name.islower():
        return None
    year = int(parts["y"]) if parts.get("y") else None
    bound = _bound(text.lower(), found.start(), found.end())
    if not bound and re.search(
        r"\bby\s*$", text[max(found.start() - 8, 0) : found.start()].lower()
    ):
        bound = "max"
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        if parts["sep"] == "." or first > 12:
            return Date(found[0], year, second, first, bound)
        if second > 12:
            return Date(found[0], year, first, second, bound)
        return Date(found[0], year, first, second, bound, swapped=first != second)
    month = MONTHS[name.lower()] if name else int(parts["m"])
    day = int(parts["d"]) if parts.get("d") else None
    if month > 12 or (day or 1) > 31:
        return None
    return Date(found[0], year, month, day, bound)


def _bound(lower: str, start: int, end: int) -> Bound:
    before = lower[max(start - 40, 0) : start]
    # The longest phrase counts: "not before" holds "before", "no less than" holds "less than".
    phrases = [(len(found[0]), bound) for bound, one in _BEFORE if (found := one.search(before))]
    if phrases:
        return max(phrases)[1]
    for bound, pattern in _AFTER:
        if pattern.search(lower[end : end + 40]):
            return bound
    return ""


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
    factor = _SCALES.get(scale, _LETTER_SCALES.get(scale, 1.0))
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
        bound=_bound(lower, found.start(), end),
    )


def _values(digits: str) -> set[float]:
    if re.fullmatch(r"\d{1,3}([,'’\u00a0\u202f]\d{3})+(\.\d+)?", digits):
        return {float(re.sub(r"[,'’\u00a0\u202f]", "", digits))}
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
