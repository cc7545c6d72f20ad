"""Dates of a sentence in many forms, with their bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ragpg.query.bounds import bound_of
from ragpg.words import fold

if TYPE_CHECKING:
    from ragpg.query.bounds import Bound

_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
#: The same in German, French, Spanish, Italian, Portuguese and Dutch, January to December.
_FOREIGN = """
    januar jänner janvier enero gennaio janeiro januari
    februar février fevrier febrero febbraio fevereiro februari
    märz mars marzo março maart
    april avril abril aprile
    mai mayo maggio maio mei
    juni juin junio giugno junho
    juli juillet julio luglio julho
    august août aout agosto augustus
    september septembre septiembre settembre setembro
    oktober octobre octubre ottobre outubro
    november novembre noviembre novembro
    dezember décembre decembre diciembre dicembre dezembro december
"""
#: Names of months, in English also short, to their numbers.
MONTHS = {
    form: at
    for at, line in enumerate(_FOREIGN.split("\n")[1:-1], start=1)
    for name in line.split()
    for form in (name, fold(name))
} | {
    name: at
    for at, month in enumerate(_MONTH_NAMES.split(), start=1)
    for name in (month, month[:3], "sept" if month == "september" else month)
}
#: What a sentence may begin with that is the rest of a date: "am 3." goes on with "März".
GOES_ON = re.compile(rf"(?:{'|'.join(map(re.escape, MONTHS))})\b", re.IGNORECASE)
_MONTH_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\d.])(?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"),
    re.compile(
        r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:(?:of|de)\s+)?"
        rf"(?P<name>{_MONTH_NAME})\b\.?"
        r"(?:,?\s+(?:de\s+)?(?P<y>\d{4})(?!\d))?",
        re.I,
    ),
    re.compile(
        rf"\b(?P<name>{_MONTH_NAME})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]*\d)"
        r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
        re.I,
    ),
    re.compile(rf"\b(?P<name>{_MONTH_NAME})\b\.?,?\s+(?:de\s+)?(?P<y>\d{{4}})(?!\d)", re.I),
)


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


def take_dates(text: str) -> tuple[str, list[Date]]:
    """The dates of a text, and the text with blanks in their place."""
    dates: list[Date] = []
    for pattern in _DATES:
        text = pattern.sub(partial(_taken, text, dates), text)
    return text, dates


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
    bound = bound_of(text.lower(), found.start(), found.end())
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
