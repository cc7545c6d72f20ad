"""The key that somebody meant, and where it stands."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ragpg.config.knobs import knobs_of
from ragpg.config.values import ELSEWHERE, PLAIN, SECTIONS
from ragpg.query.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What two names must share to be taken for one another, of 1; elsewhere they must share more.
_HERE, _ELSEWHERE = 0.7, 0.85


def hint_for(key: str, known: Iterable[str], place: str) -> str:
    """A sentence about an unknown key: the one that it resembles in its own table, and the one in
    another where it resembles that more; else all that its table knows.

    place  the table in which it was written, "" for the top of the file
    """
    known = list(known)
    here = max(((_likeness(key, one), one) for one in known), default=(0.0, ""))
    there = max(((_likeness(key, name), full) for name, full in _others(place)), default=(0.0, ""))
    meant = [here[1]] if here[0] >= _HERE else []
    # In a name of one or two letters there is nothing to resemble.
    if there[0] >= _ELSEWHERE and there[0] > here[0] and len(key) > 2:
        meant.append(there[1])
    return f"Did you mean {', or '.join(meant)}?" if meant else f"Known: {', '.join(known)}."


def _likeness(one: str, other: str) -> float:
    plain, wanted = (text.lower().replace("_", "").replace("-", "") for text in (one, other))
    return difflib.SequenceMatcher(None, plain, wanted).ratio()


def _others(place: str) -> Iterable[tuple[str, str]]:
    """Every key outside a table, with its full name."""
    tables = {"profile": Profile} | SECTIONS
    for name, cls in tables.items():
        if name != place:
            hidden = ELSEWHERE.get(name, ())
            yield from ((knob, f"{name}.{knob}") for knob in knobs_of(cls) if knob not in hidden)
    if place:
        yield from ((one, f"{one}, at the top of the file") for one in PLAIN)
