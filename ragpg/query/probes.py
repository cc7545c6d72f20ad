"""A probe: a further query that joins the fusion of a search beside the user's own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.vectors import vector_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: SQL takes no more in one search.
MOST_PROBES = 16
#: A probe finds what the query alone does not; it never outweighs the query.
DEFAULT_WEIGHT = 0.3
#: The arms that can run a probe.
ARMS = ("keyword", "vector")


@dataclass(frozen=True, slots=True)
class Probe:
    """A further query. Its hits join the fusion as arms "keyword:NAME" and "vector:NAME".

    name       unique within a search
    query      text for the keyword arm, and what is embedded for the vector arm; None: no keyword
    weight     times the weight of the arm, 0 or more
    embedding  the vector for the vector arm; None where it is not embedded (yet)
    arms       which arms run it
    """

    name: str
    query: str | None
    weight: float = DEFAULT_WEIGHT
    embedding: Sequence[float] | None = None
    arms: Sequence[str] = ARMS

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ConfigError("a probe needs a name")
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ConfigError(
                f"probe {self.name}: the weight is {self.weight}, not a number from 0"
            )
        unknown = [arm for arm in self.arms if arm not in ARMS]
        if unknown:
            raise ConfigError(
                f"probe {self.name}: the arm {unknown[0]!r} runs no probes",
                hint="Probes run in the arms keyword and vector.",
            )


def probes_json(probes: Iterable[Probe]) -> list[dict[str, Any]]:
    """What ragpg.search takes as `probes`: the first sixteen of different names."""
    chosen: dict[str, Probe] = {}
    for probe in probes:
        chosen.setdefault(probe.name, probe)
    return [
        {
            "name": probe.name,
            "query": probe.query,
            "embedding": None if probe.embedding is None else vector_literal(probe.embedding),
            "weight": probe.weight,
            "arms": list(probe.arms),
        }
        for probe in list(chosen.values())[:MOST_PROBES]
    ]
