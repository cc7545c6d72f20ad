"""Grades in the answer of a chat model: JSON, wherever in the text it stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

#: The lowest and highest grade that is asked for.
LOWEST, HIGHEST = 0.0, 10.0

#: So many brackets may open nothing; each costs a try.
_TRIES = 200

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_IDS = ("id", "index", "passage", "number", "document")
_GRADES = ("score", "grade", "relevance", "relevance_score")


def read_grades(text: str, count: int) -> dict[int, float]:
    """Grades by passage number, 1 to `count`; empty when the text has none that can be read.

    Takes a list of {"id", "score"}, an object of number to grade, or an object that holds one of
    these, with prose, code fences or thoughts around it. A list that was cut off gives what it
    has. Of a passage graded twice the first grade counts. Unknown numbers, and grades that are no
    numbers or not between 0 and 10, are left out.
    """
    found: dict[int, float] = {}
    decoder = json.JSONDecoder()
    text = _THOUGHT.sub(" ", text)
    at = tries = 0
    while tries < _TRIES and (start := _next_opening(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            tries += 1
            continue
        for number, grade in _pairs(value):
            if 1 <= number <= count:
                found.setdefault(number, grade)
    return found


def _next_opening(text: str, start: int) -> int | None:
    places = [place for mark in "[{" if (place := text.find(mark, start)) >= 0]
    return min(places, default=None)


def _pairs(value: Any) -> list[tuple[int, float]]:
    if isinstance(value, list):
        return [pair for item in value for pair in _pairs(item)]
    if not isinstance(value, Mapping):
        return []
    number = next((_whole(value[key]) for key in _IDS if key in value), None)
    if number is not None:
        grade = next((_grade(value[key]) for key in _GRADES if key in value), None)
        return [] if grade is None else [(number, grade)]
    pairs = []
    for key, item in value.items():
        if (number := _whole(key)) is not None and (grade := _grade(item)) is not None:
            pairs.append((number, grade))
        elif isinstance(item, (list, Mapping)):
            pairs += _pairs(item)
    return pairs


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
    return int(value) if math.isfinite(value) and value == int(value) else None


def _grade(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        grade = float(value)
    except (ValueError, OverflowError):
        return None
    return grade if LOWEST <= grade <= HIGHEST else None
