"""Intervals of means and of differences, by the paired bootstrap.

Queries are drawn with replacement; both rungs of a comparison see the same draw (Efron and
Tibshirani 1993, chapter 16; for retrieval: Sakai, SIGIR 2006). Queries that were made from one
chunk are drawn together. All draws come from a seed: a report can be made again to the last digit.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 1000
SEED = 1
#: Differences are called significant below this.
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the percentile interval that holds 95 % of the resampled means."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference, its 95 % interval, and the two-sided bootstrap p-value: twice the share of
    resampled differences on the other side of 0 (or on it)."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether chance alone gives such a difference less than once in 20 times."""
        return self.p < ALPHA

    def to_json(self) -> dict[str, float]:
        """The four numbers, rounded to six places."""
        return {name: round(getattr(self, name), 6) for name in ("mean", "low", "high", "p")}


#: Values of one set by query. Queries with the same group are drawn together.
Values = Mapping[str, float]
Groups = Mapping[str, str]


def interval(
    strata: Sequence[Values], groups: Groups | None = None, *, resamples: int = RESAMPLES
) -> Interval | None:
    """The interval of a mean; of several strata (judged sets) each has its own mean, and the mean
    of these is what counts. None where a stratum is empty."""
    found = _resampled(strata, groups or {}, resamples)
    if found is None:
        return None
    mean, means = found
    return Interval(mean, *_percentiles(means))


def difference(
    pairs: Sequence[tuple[Values, Values]],
    groups: Groups | None = None,
    *,
    resamples: int = RESAMPLES,
) -> Difference | None:
    """The difference new - old over the queries that both have, for one stratum or several."""
    strata = [
        {query: new[query] - old[query] for query in new if query in old} for new, old in pairs
    ]
    found = _resampled(strata, groups or {}, resamples)
    if found is None:
        return None
    mean, means = found
    # A difference that is 0 in every query is no evidence of anything.
    below = sum(value <= 0 for value in means)
    above = sum(value >= 0 for value in means)
    p = min(1.0, 2 * (min(below, above) + 1) / (len(means) + 1))
    return Difference(mean, *_percentiles(means), p)


def _resampled(
    strata: Sequence[Values], groups: Groups, resamples: int
) -> tuple[float, list[float]] | None:
    if not strata or not all(strata):
        return None
    means = [0.0] * resamples
    mean = 0.0
    for values in strata:
        sums: defaultdict[str, float] = defaultdict(float)
        counts: defaultdict[str, int] = defaultdict(int)
        for query in sorted(values):
            group = groups.get(query, query)
            sums[group] += values[query]
            counts[group] += 1
        totals, sizes = list(sums.values()), list(counts.values())
        mean += math.fsum(totals) / sum(sizes) / len(strata)
        even = len(set(sizes)) == 1
        for place, draw in enumerate(_draws(len(totals), resamples)):
            size = sizes[0] * len(sizes) if even else sum(map(sizes.__getitem__, draw))
            means[place] += sum(map(totals.__getitem__, draw)) / size / len(strata)
    return mean, sorted(means)


@lru_cache(maxsize=32)
def _draws(count: int, resamples: int) -> list[list[int]]:
    # A generator for each draw size: the draws of one set do not depend on which sets ran before.
    generator = random.Random(f"{SEED}/{count}")
    places = range(count)
    return [generator.choices(places, k=count) for _ in range(resamples)]


def _percentiles(ordered: Sequence[float]) -> tuple[float, float]:
    last = len(ordered) - 1
    return ordered[round(0.025 * last)], ordered[round(0.975 * last)]
