"""Retrieval metrics over distinct ids, as trec_eval computes them.

Every metric is between 0 and 1. An id that is returned twice counts once, at its first place, so
no repetition can lift a score. nDCG uses linear gain and a log2(rank + 1) discount, which is
trec_eval's `ndcg_cut` (Järvelin and Kekäläinen, ACM TOIS 2002) and the number that BEIR reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragpg.errors import ConfigError

#: Gain of an id for one query; ids that are absent or have a gain <= 0 are not relevant.
Relevance = Mapping[str, float]


def _first(retrieved: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(retrieved))[: max(k, 0)]


def _relevant(relevance: Relevance) -> set[str]:
    return {doc for doc, gain in relevance.items() if gain > 0}


def recall(retrieved: Sequence[str], relevance: Relevance, k: int) -> float:
    """Share of the relevant ids among the first `k` distinct ids; 0 when nothing is relevant."""
    relevant = _relevant(relevance)
    if not relevant:
        return 0.0
    return len(relevant.intersection(_first(retrieved, k))) / len(relevant)


def precision(retrieved: Sequence[str], relevance: Relevance, k: int) -> float:
    """Relevant ids among the first `k` distinct ids, divided by `k` however few came back."""
    if k <= 0:
        return 0.0
    return len(_relevant(relevance).intersection(_first(retrieved, k))) / k


def reciprocal_rank(retrieved: Sequence[str], relevance: Relevance, k: int) -> float:
    """1 / rank of the first relevant id among the first `k` distinct ids, else 0."""
    relevant = _relevant(relevance)
    for rank, doc in enumerate(_first(retrieved, k), start=1):
        if doc in relevant:
            return 1 / rank
    return 0.0


def all_found(retrieved: Sequence[str], relevance: Relevance, k: int) -> float:
    """1 when every relevant id is among the first `k` distinct ids, else 0 (All@k): what a question
    needs whose answer takes several documents."""
    relevant = _relevant(relevance)
    return float(bool(relevant) and relevant.issubset(_first(retrieved, k)))


def ndcg(retrieved: Sequence[str], relevance: Relevance, k: int) -> float:
    """Normalised discounted cumulative gain of the first `k` distinct ids, linear gain."""

    def dcg(gains: Sequence[float]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))

    gains = [max(relevance.get(doc, 0.0), 0.0) for doc in _first(retrieved, k)]
    ideal = sorted((gain for gain in relevance.values() if gain > 0), reverse=True)[: max(k, 0)]
    best = dcg(ideal)
    # Rounding may put a perfect list a hair above 1.
    return min(dcg(gains) / best, 1.0) if best else 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A query without a score. `kind` is "failed" (an error: it counts against the run) or
    "not scorable" (there is nothing to score, such as the right refusal of a question)."""

    reason: str
    kind: str = "failed"


@dataclass(frozen=True, slots=True)
class Summary:
    """Per-query values with their mean, and how many could not be scored.

    `mean` is over the scored queries; None, never NaN, when there are none. `failed_as_zero` is
    the mean with every failed query as 0: the number that cannot rise because things break.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Queries with a value."""
        return len(self.values)

    @property
    def failed(self) -> int:
        """Queries that ended in an error."""
        return sum(failure.kind == "failed" for failure in self.failures.values())

    @property
    def not_scorable(self) -> int:
        """Queries with nothing to score."""
        return len(self.failures) - self.failed

    @property
    def mean(self) -> float | None:
        """Mean over the scored queries."""
        return math.fsum(self.values.values()) / self.scored if self.values else None

    @property
    def failed_as_zero(self) -> float | None:
        """Mean over scored and failed queries, where a failed one counts 0."""
        total = self.scored + self.failed
        return math.fsum(self.values.values()) / total if total else None

    def passes(self, threshold: float, *, max_failed_share: float = 0.05) -> bool:
        """Whether the mean reaches `threshold` and enough queries could be scored.

        False when more than `max_failed_share` of all queries failed or were not scorable, or
        when none was scored.
        """
        total = self.scored + len(self.failures)
        if not self.values or len(self.failures) / total > max_failed_share:
            return False
        return math.fsum(self.values.values()) / self.scored >= threshold


def summarize(outcomes: Mapping[str, float | Failure]) -> Summary:
    """Sort the outcome of each query into values and failures.

    A NaN or infinite value becomes a failure that says so. Raises ConfigError for a value outside
    0..1, which no metric here can give.
    """
    values: dict[str, float] = {}
    failures: dict[str, Failure] = {}
    for query, outcome in outcomes.items():
        if isinstance(outcome, Failure):
            failures[query] = outcome
        elif not math.isfinite(outcome):
            failures[query] = Failure(f"the score is {outcome}")
        elif not 0 <= outcome <= 1:
            raise ConfigError(f"the score {outcome} of query {query!r} is not between 0 and 1")
        else:
            values[query] = outcome
    return Summary(values, failures)
