"""Asks questions on every rung and keeps what came of each: quality, time, tokens, stages."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragpg.errors import RagpgError
from ragpg.evaluate.metrics import (
    Failure,
    Summary,
    all_found,
    ndcg,
    recall,
    reciprocal_rank,
    summarize,
)
from ragpg.tokens import estimate_tokens
from ragpg.types import SearchResult

if TYPE_CHECKING:
    from ragpg.evaluate.gold import Question

#: A question -> its result, or ids of documents, best first. The time it takes is what is reported.
Search = Callable[["Question"], "SearchResult | Sequence[str]"]


@dataclass(frozen=True, slots=True)
class RungRun:
    """What a rung did with every question. `values` holds metric -> question -> value or Failure;
    `ms` and `tokens` are lists over the questions that were answered; `stages` holds the median
    milliseconds of each arm and stage, `rows` what it gave in all, `remarks` why one was skipped or
    failed, with the number of questions. `unavailable` says why the rung could not be run at all.
    """

    rung: str
    values: Mapping[str, Mapping[str, float | Failure]] = field(default_factory=dict)
    ms: Sequence[float] = ()
    tokens: Sequence[int] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)
    unavailable: str | None = None

    def summary(self, metric: str, questions: Sequence[str] | None = None) -> Summary:
        """A metric over all questions, or over some."""
        values = self.values.get(metric, {})
        chosen = values if questions is None else {one: values[one] for one in questions
                                                   if one in values}  # fmt: skip
        return summarize(chosen)

    def scores(self, metric: str, questions: Sequence[str] | None = None) -> dict[str, float]:
        """Values by question for comparisons: what failed counts 0, what is not scorable is out."""
        chosen = None if questions is None else set(questions)
        return {
            question: 0.0 if isinstance(value, Failure) else value
            for question, value in self.values.get(metric, {}).items()
            if (chosen is None or question in chosen)
            and not (isinstance(value, Failure) and value.kind == "not scorable")
        }

    @property
    def metrics(self) -> dict[str, Summary]:
        """A summary for each metric."""
        return {metric: summarize(values) for metric, values in self.values.items()}

    def latency(self, share: float) -> float | None:
        """The time below which this share of the questions stays, in milliseconds."""
        ordered = sorted(self.ms)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None


def metric_names(k: int, depth: int) -> list[str]:
    """The metrics of a run; recall@depth only where more than k hits are fetched."""
    names = [f"nDCG@{k}", f"recall@{k}", f"MRR@{k}", f"All@{k}"]
    return names + ([f"recall@{depth}"] if depth > k else []) + ["context"]


def measure(
    question: Question, result: SearchResult | Sequence[str], k: int, depth: int
) -> dict[str, float]:
    """Every metric of one result. `context` is the share of the gold that the context block shows;
    ids alone have none."""
    gold, gains = question.gold, question.gold.gains
    found = gold.ranking(result.hits) if isinstance(result, SearchResult) else list(result)
    values = {
        f"nDCG@{k}": ndcg(found, gains, k),
        f"recall@{k}": recall(found, gains, k),
        f"MRR@{k}": reciprocal_rank(found, gains, k),
        f"All@{k}": all_found(found, gains, k),
    }
    if isinstance(result, SearchResult):
        values["context"] = gold.covered([citation.hit for citation in result.citations])
    if depth > k:
        values[f"recall@{depth}"] = recall(found, gains, depth)
    return values


def run_rung(
    search: Search,
    questions: Sequence[Question],
    rung: str,
    *,
    k: int = 10,
    depth: int | None = None,
    on_question: Callable[[], object] | None = None,
) -> RungRun:
    """Ask every question on one rung.

    A question whose search raises a RagpgError is counted as failed with its message, and the run
    goes on. Any other exception is a fault of `search` and is raised. The first question is asked
    once more beforehand, so that no rung pays for what is read into memory once.
    """
    depth = max(depth or k, k)
    values: dict[str, dict[str, float | Failure]] = {name: {} for name in metric_names(k, depth)}
    times: list[float] = []
    tokens: list[int] = []
    stages: defaultdict[str, list[float]] = defaultdict(list)
    rows: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    for place, question in enumerate([*questions[:1], *questions]):
        began = time.perf_counter()
        try:
            result = search(question)
        except RagpgError as error:
            for metric in values.values():
                metric[question.id] = Failure(str(error))
            continue
        finally:
            if place and on_question is not None:
                on_question()
        if not place:
            continue
        times.append((time.perf_counter() - began) * 1000)
        for name, value in measure(question, result, k, depth).items():
            values[name][question.id] = value
        if not isinstance(result, SearchResult):
            continue
        tokens.append(estimate_tokens(result.context))
        for name, arm in result.report.items():
            stages[name].append(arm.ms)
            rows[name] += arm.rows
            reason = arm.error or arm.skipped
            if reason:
                remarks[f"{name} {'failed' if arm.error else 'skipped'}: {reason}"] += 1
    return RungRun(
        rung,
        {name: found for name, found in values.items() if found},
        times,
        tokens,
        {name: sorted(ms)[len(ms) // 2] for name, ms in stages.items()},
        dict(rows),
        dict(remarks.most_common()),
    )


def to_json(run: RungRun) -> dict[str, Any]:
    """Everything of a run as JSON values, to be kept on disk."""
    return {
        "rung": run.rung,
        "values": {
            metric: {
                question: {"reason": value.reason, "kind": value.kind}
                if isinstance(value, Failure)
                else value
                for question, value in values.items()
            }
            for metric, values in run.values.items()
        },
        "ms": [round(ms, 3) for ms in run.ms],
        "tokens": list(run.tokens),
        "stages": {name: round(ms, 3) for name, ms in run.stages.items()},
        "rows": dict(run.rows),
        "remarks": dict(run.remarks),
        "unavailable": run.unavailable,
    }


def from_json(data: Mapping[str, Any]) -> RungRun:
    """The run that `to_json` wrote."""
    values = {
        metric: {
            question: Failure(**value) if isinstance(value, Mapping) else float(value)
            for question, value in kept.items()
        }
        for metric, kept in data["values"].items()
    }
    return RungRun(**{**data, "values": values})
