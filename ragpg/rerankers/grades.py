"""Grades in the answer of a chat model: JSON, wherever in the text it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragpg.model_json import as_whole, json_values

#: The lowest and highest grade that is asked for.
LOWEST, HIGHEST = 0.0, 10.0

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
    for value in json_values(text):
        for number, grade in _pairs(value):
            if 1 <= number <= count:
                found.setdefault(number, grade)
    return found


def _pairs(value: Any) -> list[tuple[int, float]]:
    if isinstance(value, list):
        return [pair for item in value for pair in _pairs(item)]
    if not isinstance(value, Mapping):
        return []
    number = next((as_whole(value[key]) for key in _IDS if key in value), None)
    if number is not None:
        grade = next((_grade(value[key]) for key in _GRADES if key in value), None)
        return [] if grade is None else [(number, grade)]
    pairs = []
    for key, item in value.items():
        if (number := as_whole(key)) is not None and (grade := _grade(item)) is not None:
            pairs.append((number, grade))
        elif isinstance(item, (list, Mapping)):
            pairs += _pairs(item)
    return pairs


def _grade(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        grade = float(value)
    except (ValueError, OverflowError):
        return None
    return grade if LOWEST <= grade <= HIGHEST else None
