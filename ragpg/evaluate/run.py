"""Runs a judged set through a search, rung by rung, and reports quality beside time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import RagpgError
from ragpg.evaluate.metrics import Failure, Summary, ndcg, recall, reciprocal_rank, summarize

if TYPE_CHECKING:
    from ragpg.evaluate.datasets import JudgedSet

#: (query, rung) -> ids of documents, best first. Give 100 of them, or recall@100 means less.
Search = Callable[[str, str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class RungReport:
    """One rung ("keyword", "fused"): a summary per metric, and the median latency of a query."""

    rung: str
    metrics: Mapping[str, Summary]
    median_ms: float

    def to_json(self) -> dict[str, Any]:
        """Means, counts and the reasons of failures, without the per-query values."""
        first = next(iter(self.metrics.values()))
        return {
            "rung": self.rung,
            **{name: summary.mean for name, summary in self.metrics.items()},
            "median_ms": round(self.median_ms, 3),
            "scored": first.scored,
            "failed": first.failed,
            "not_scorable": first.not_scorable,
            "failures": {query: failure.reason for query, failure in first.failures.items()},
        }


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What every rung reached on one judged set."""

    dataset: str
    documents: int
    queries: int
    rungs: Sequence[RungReport]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "dataset": self.dataset,
            "documents": self.documents,
            "queries": self.queries,
            "rungs": [rung.to_json() for rung in self.rungs],
        }

    def __str__(self) -> str:
        """A table for a terminal; "-" where nothing could be scored."""
        names = list(self.rungs[0].metrics) if self.rungs else []
        width = max([len("rung"), *(len(rung.rung) for rung in self.rungs)])
        head = f"{self.dataset}: {self.documents} documents, {self.queries} queries"
        columns = "".join(
            f"{name:>12}" for name in [*names, "median ms", "scored", "failed", "unscorable"]
        )
        lines = [head, f"{'rung':<{width}}{columns}"]
        for rung in self.rungs:
            means = [rung.metrics[name].mean for name in names]
            cells = "".join(f"{'-' if mean is None else format(mean, '.4f'):>12}" for mean in means)
            first = rung.metrics[names[0]]
            counts = f"{first.scored:>12}{first.failed:>12}{first.not_scorable:>12}"
            lines.append(f"{rung.rung:<{width}}{cells}{rung.median_ms:>12.1f}{counts}")
        return "\n".join(lines)


def evaluate(
    search: Search, dataset: JudgedSet, rungs: Sequence[str], *, k: int = 10
) -> EvaluationReport:
    """Ask every judged query on every rung and score the answers.

    Metrics are nDCG@k, recall@k, recall@100 and MRR@k. A query whose search raises a RagpgError
    is counted as failed with its message, and the run goes on. Queries without a relevant document
    are not asked. Any other exception is a fault of `search` and is raised.
    """
    asked = dataset.judged_queries
    reports = []
    for rung in rungs:
        names = (f"nDCG@{k}", f"recall@{k}", "recall@100", f"MRR@{k}")
        outcomes: dict[str, dict[str, float | Failure]] = {name: {} for name in names}
        times: list[float] = []
        for query in asked:
            began = time.perf_counter()
            try:
                found = search(dataset.queries[query], rung)
            except RagpgError as error:
                for name in names:
                    outcomes[name][query] = Failure(str(error))
                continue
            times.append((time.perf_counter() - began) * 1000)
            gains = dataset.relevance[query]
            values = (
                ndcg(found, gains, k),
                recall(found, gains, k),
                recall(found, gains, 100),
                reciprocal_rank(found, gains, k),
            )
            for name, value in zip(names, values, strict=True):
                outcomes[name][query] = value
        reports.append(
            RungReport(
                rung,
                {name: summarize(values) for name, values in outcomes.items()},
                statistics.median(times) if times else 0.0,
            )
        )
    return EvaluationReport(dataset.name, len(dataset.corpus), len(asked), reports)
