"""Verdicts in the answer of a chat model: JSON, wherever in the text it stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragpg.model_json import as_whole, json_values
from ragpg.types import Judgement

if TYPE_CHECKING:
    from ragpg.types import Verdict

#: What models write for a verdict, by what it begins with; longer beginnings first.
_VERDICTS: tuple[tuple[str, Verdict], ...] = (
    ("not supported", "unsupported"),
    ("not enough", "unsupported"),
    ("no info", "unsupported"),
    ("unsupported", "unsupported"),
    ("unverif", "unsupported"),
    ("neutral", "unsupported"),
    ("contradict", "contradicted"),
    ("refute", "contradicted"),
    ("partial", "partial"),
    ("supported", "supported"),
    ("support", "supported"),
    ("entail", "supported"),
)
_REASON_CHARACTERS = 300


def read_verdicts(text: str, count: int) -> dict[int, Judgement]:
    """Judgements by pair number, 1 to `count`; empty when the text has none that can be read.

    Takes objects with id, verdict, and perhaps confidence and reason, in a list, in another
    object, or one a line, with prose, code fences or thoughts around them. A list that was cut off
    gives what it has. Of a pair judged twice the first verdict counts.
    """
    found: dict[int, Judgement] = {}
    for value in json_values(text):
        for number, judgement in _judgements(value):
            if 1 <= number <= count:
                found.setdefault(number, judgement)
    return found


def _judgements(value: Any) -> list[tuple[int, Judgement]]:
    if isinstance(value, list):
        return [one for item in value for one in _judgements(item)]
    if not isinstance(value, Mapping):
        return []
    number = next((as_whole(value[key]) for key in ("id", "pair", "number") if key in value), None)
    verdict = _verdict(value.get("verdict", value.get("label")))
    if number is None or verdict is None:
        return [one for item in value.values() for one in _judgements(item)]
    reason = value.get("reason") or value.get("explanation")
    reasons = [reason[:_REASON_CHARACTERS]] if isinstance(reason, str) else []
    sure = _share(value.get("confidence"))
    support = {
        "supported": 0.5 + sure / 2,
        "partial": 0.5,
        "unsupported": 0.5 - sure / 2,
        "contradicted": 0.5 - sure / 2,
    }[verdict]
    against = reasons if verdict in ("unsupported", "contradicted") else []
    return [(number, Judgement(verdict, support, against))]


def _verdict(value: Any) -> Verdict | None:
    said = (
        value.strip().lower().replace("_", " ").replace("-", " ") if isinstance(value, str) else ""
    )
    return next((verdict for start, verdict in _VERDICTS if said.startswith(start)), None)


def _share(value: Any) -> float:
    """A confidence between 0 and 1; 1 where none was given or it cannot be read."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 1.0
    return min(max(value / 100 if value > 1 else value, 0.0), 1.0)
