"""The key that somebody meant, and where it stands."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ragpg.config.knobs import knobs_of
from ragpg.config.values import ELSEWHERE, PLAIN, SECTIONS, variable
from ragpg.query.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: What two names must share to be taken for one another, of 1; elsewhere they must share more.
_HERE, _ELSEWHERE = 0.7, 0.85
#: Variables of the private server and of tests, which no file holds.
_OTHERS = ("RAGPG_DB_", "RAGPG_TEST_")


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


def stray_variables(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable RAGPG_... that sets nothing, with the one that was meant."""
    known = {variable(None, key) for key in PLAIN} | {"RAGPG_CONFIG", "RAGPG_PROFILE"}
    for name, cls in ({"profile": Profile} | SECTIONS).items():
        known |= {variable(name, key) for key in knobs_of(cls)}
    found = []
    for one in sorted(environment):
        if not one.startswith("RAGPG_") or one in known or one.startswith(_OTHERS):
            continue
        near = max((_likeness(one, name), name) for name in sorted(known))
        meant = f"; did you mean {near[1]}?" if near[0] >= _ELSEWHERE else ""
        found.append(f"the variable {one} sets nothing{meant}")
    return found


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
