"""JSON in the answer of a chat model, wherever in the text it stands."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: So many brackets may open nothing; each costs a try.
_TRIES = 200
#: What a model thinks aloud before it answers, closed or not.
THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


def json_values(text: str) -> Iterator[Any]:
    """The lists and objects of an answer in order, those inside of another left out; prose, code
    fences and thoughts are passed over, and of a list that was cut off its items come one by one.
    """
    decoder = json.JSONDecoder()
    text = THOUGHT.sub(" ", text)
    at = tries = 0
    while tries < _TRIES and (start := _next_opening(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            tries += 1
            continue
        yield value


def as_whole(value: Any) -> int | None:
    """A number as models write it: 3, 3.0 or "3"; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
    return int(value) if math.isfinite(value) and value == int(value) else None


def _next_opening(text: str, start: int) -> int | None:
    places = [place for mark in "[{" if (place := text.find(mark, start)) >= 0]
    return min(places, default=None)
