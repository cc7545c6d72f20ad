"""Whether a claim and its evidence agree where word overlap is blind.

Compared are numbers with units and bounds, dates, negation, quantifiers, opposites, names and who
does what to whom. The means are lexical; they know no synonyms and no arithmetic. They are meant
for a claim and a span of evidence that already share most of their words.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ragpg.query.doers import compare_doers
from ragpg.query.polarity import compare_negation, compare_opposites, compare_quantifiers
from ragpg.query.quantities import quantities
from ragpg.query.roles import compare_names, compare_roles
from ragpg.query.sentence_words import Disagreement, SentenceWords
from ragpg.query.slots import compare_slots
from ragpg.words import stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.dates import Date
    from ragpg.query.quantities import Quantity


_TAGS = re.compile(r"</?(?:b|i|u|em|strong|mark|code|span|sub|sup|small)\b[^<>\n]{0,80}>", re.I)
_SCALED = re.compile(r"\d\s?(?:thousand|million|billion|trillion|k|m|bn|mio|mrd)\b")
#: A round number is no farther from the exact one than this share of it.
_NEAR = 0.05
#: "According to the handbook, ": who says it is no part of what is said.
_REPORTING = re.compile(
    r"^\W*(?:according to (?:the |this |our )?(?:\w+ ){0,3}?\w+,"
    r"|in other words,|in short,|overall,"
    r"|(?:the|this|our) (?:text|document|documentation|source|passage|manual|handbook|study"
    r"|article)s?(?: also)?"
    r" (?:says?|states?|explains?|mentions?|notes?|reports?|shows?|describes?) that)\s+",
    re.I,
)


def disagreements(
    claim: str, evidence: str, heading: str = "", around: str = ""
) -> list[Disagreement]:
    """All points on which a claim and its evidence differ; empty when they agree.

    `heading` is title, breadcrumb and source of the evidence: numbers and names may come from it.
    `around` is the whole text that the evidence was taken from; acronyms may come from there.
    """
    claim, evidence = _REPORTING.sub("", _plain(claim)), _plain(evidence)
    numbers = _compare_numbers(claim, evidence, heading)
    mine, its = SentenceWords.of(claim), SentenceWords.of(evidence)
    negation = compare_negation(mine, its)
    opposite = compare_opposites(mine, its)
    bounds = [one for one in numbers if one.topic == "bound"]
    # "not paid after 14 days" and "paid within 14 days" differ twice and so agree again.
    if negation and (bounds or opposite):
        numbers = [one for one in numbers if one.topic != "bound"]
        negation, opposite = [], []
    found = [
        *numbers,
        *negation,
        *opposite,
        *compare_quantifiers(mine, its),
        *compare_names(claim, evidence, heading, around),
        *(compare_roles(mine, its) or compare_doers(claim, evidence, around)),
    ]
    topics = {one.topic for one in found}
    return [*found, *(one for one in compare_slots(claim, evidence) if one.topic not in topics)]


def _plain(text: str) -> str:
    """Without citation markers, emphasis and its tags, which are no part of what is said."""
    text = re.sub(r"[\[【]\^?[\d\s,;–-]+(?:†[^\]】]*)?[\]】]", " ", text)
    text = _TAGS.sub("", text)
    return re.sub(r"(?<!\w)[*_`]{1,3}|[*_`]{1,3}(?!\w)", "", text)


def _compare_numbers(claim: str, evidence: str, heading: str) -> list[Disagreement]:
    asked, asked_dates = quantities(claim)
    given, given_dates = quantities(evidence)
    headed, headed_dates = quantities(heading)
    parts = {
        float(part)
        for date in (*given_dates, *headed_dates)
        for part in (date.year, date.month, date.day)
        if part
    }
    headed_values = {value for one in headed for value in one.values}
    found = [_compare_date(date, given_dates, given) for date in asked_dates]
    for one in asked:
        same = [other for other in given if _same(one, other) or _rounded(one, other)]
        if same:
            found.append(_compare_bound(one, same))
        elif one.soft:
            found.append(_compare_soft(one, given))
        elif not one.values & (headed_values | parts):
            found.append(_absent(one, given))
    return [one for one in found if one is not None]


def _same(one: Quantity, other: Quantity) -> bool:
    if not any(abs(a - b) <= 1e-9 * max(abs(a), abs(b)) for a in one.values for b in other.values):
        return False
    if {one.noun, other.noun} == {"am", "pm"}:
        return False
    if one.dimension and other.dimension:
        return one.dimension == other.dimension
    # A unit against a plain noun ("14 days", "14 users") is not the same thing; a number with
    # nothing behind it ("the limit is 14") leaves the unit open.
    noun = other.noun if one.dimension else one.noun
    return not noun if one.dimension != other.dimension else True


def _rounded(one: Quantity, other: Quantity) -> bool:
    """Whether a round number of the claim stands for an exact one of the evidence: "about 90" for
    92, "1.2 million" for 1,234,567."""
    if one.limit != "near" and not _SCALED.search(one.text):
        return False
    if one.dimension != other.dimension or stem(one.noun) != stem(other.noun):
        return False
    [a], [b] = ([*each.values][:1] or [0.0] for each in (one, other))
    figures = one.digits.replace(",", "").lstrip("0").replace(".", "") or "1"
    # Zeros at the end of a whole number are not counted: 1,200,000 is round to hundred thousands.
    known = len(figures if "." in one.digits else figures.rstrip("0")) or 1
    step = 10.0 ** (math.floor(math.log10(abs(a))) + 1 - known) if a else 0.0
    return abs(a - b) <= min(step / 2, abs(b) * _NEAR)


def _compare_bound(one: Quantity, same: Sequence[Quantity]) -> Disagreement | None:
    theirs = {other.limit for other in same}
    if one.limit == "exact" and theirs <= {"closed", "open"}:
        reason = f"{one.text!r} is the only value in the claim, a bound in the evidence"
        return Disagreement("conflict", "bound", reason)
    if one.bound and one.limit == "open" and theirs <= {"closed", "exact"}:
        reason = f"{one.text!r} itself is left out in the claim, and not in the evidence"
        return Disagreement("conflict", "bound", reason)
    if not one.bound or any(other.bound in ("", one.bound) for other in same):
        return None
    words = {"max": "an upper", "min": "a lower"}
    return Disagreement(
        "conflict",
        "bound",
        f"{one.text!r} is {words[one.bound]} bound in the claim, "
        f"{words[same[0].bound]} bound in the evidence",
    )


def _compare_soft(one: Quantity, given: Sequence[Quantity]) -> Disagreement | None:
    """An ordinal or "a year" conflicts only with another one of the same thing."""
    for other in given:
        if other.dimension != one.dimension:
            continue
        if one.dimension == "ordinal":
            rival = stem(one.noun) == stem(other.noun)
        else:
            rival = other.soft or bool(one.bound and one.bound == other.bound)
        if rival:
            reason = f"{one.text!r} is not in the evidence, which has {_named(other)!r}"
            return Disagreement("conflict", "number", reason)
    return None


def _named(one: Quantity) -> str:
    return one.text if one.soft else f"{one.text} {one.unit or one.noun}".strip()


def _absent(one: Quantity, given: Sequence[Quantity]) -> Disagreement:
    name = _named(one)
    hard = [other for other in given if not other.soft]
    for other in hard:
        if other.text == one.text:
            reason = f"the claim has {name!r}, the evidence {_named(other)!r}"
            return Disagreement("conflict", "unit", reason)
    if not hard:
        return Disagreement("missing", "number", f"number {name!r} is not in the evidence")
    alike = [other for other in hard if other.dimension == one.dimension] or hard
    theirs = ", ".join(_named(other) for other in alike[:3])
    reason = f"number {name!r} is not in the evidence, which has {theirs}"
    return Disagreement("conflict", "number", reason)


def _compare_date(
    date: Date, given: Sequence[Date], numbers: Sequence[Quantity]
) -> Disagreement | None:
    agreeing = [other for other in given if date.agrees(other)]
    if agreeing:
        if date.bound and all(other.bound not in ("", date.bound) for other in agreeing):
            return Disagreement(
                "conflict", "bound", f"{date.text!r}: before and after are exchanged"
            )
        return None
    if given:
        return Disagreement(
            "conflict",
            "date",
            f"date {date.text!r} is not in the evidence, which has {given[0].text!r}",
        )
    years = {value for one in numbers for value in one.values}
    if date.month is None and date.year in years:
        return None
    return Disagreement("missing", "date", f"date {date.text!r} is not in the evidence")
