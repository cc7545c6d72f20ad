"""What a ladder reached on one set: means, intervals, what each stage added, and the worst news."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.evaluate.bootstrap import Difference, Interval, difference, interval
from ragpg.evaluate.ladder import BETTER_ARM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.evaluate.gold import Question
    from ragpg.evaluate.ladder import Rung
    from ragpg.evaluate.run import RungRun

#: The default must not fall further below the better arm alone than this.
TOLERANCE = 0.005


@dataclass(frozen=True, slots=True)
class Report:
    """The runs of a ladder over one set of questions."""

    name: str
    documents: int
    questions: Sequence[Question]
    rungs: Sequence[Rung]
    runs: Mapping[str, RungRun]
    k: int = 10
    depth: int = 10

    @property
    def main(self) -> str:
        """The metric that decides."""
        return f"nDCG@{self.k}"

    @property
    def metrics(self) -> list[str]:
        """The metrics to show: All@k only where a question needs several finds."""
        names = [self.main, f"recall@{self.k}", f"MRR@{self.k}"]
        if any(sum(gain > 0 for gain in one.gold.gains.values()) > 1 for one in self.questions):
            names.append(f"All@{self.k}")
        return names + ([f"recall@{self.depth}"] if self.depth > self.k else []) + ["context"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of questions, in their order."""
        return list(dict.fromkeys(one.kind for one in self.questions if one.kind))

    @property
    def available(self) -> list[Rung]:
        """The rungs that were run."""
        return [rung for rung in self.rungs if self.runs[rung.name].unavailable is None]

    @property
    def better_arm(self) -> str | None:
        """Whichever of keyword and vector alone has the higher nDCG; None where none has run."""
        arms = [rung.name for rung in self.available if rung.name in ("keyword", "vector")]
        return max(arms, key=lambda arm: self.mean(arm) or 0.0) if arms else None

    def mean(self, rung: str, metric: str | None = None, kind: str | None = None) -> float | None:
        """The mean of a metric where a question that failed counts 0."""
        return self.runs[rung].summary(metric or self.main, self._ids(kind)).failed_as_zero

    def interval(
        self, rung: str, metric: str | None = None, kind: str | None = None
    ) -> Interval | None:
        """The mean with its interval."""
        scores = self.runs[rung].scores(metric or self.main, self._ids(kind))
        return interval([scores], self.groups)

    def against(self, rung: Rung) -> str | None:
        """The rung that this one is compared with; where that could not be run, the one below."""
        name = self.better_arm if rung.against == BETTER_ARM else rung.against
        below = next((one for one in self.rungs if one.name == name), None)
        if below is None:
            return None
        return below.name if self.runs[below.name].unavailable is None else self.against(below)

    def change(
        self, rung: Rung, metric: str | None = None, kind: str | None = None
    ) -> Difference | None:
        """What the rung adds to the one it is compared with."""
        against = self.against(rung)
        if against is None or self.runs[rung.name].unavailable:
            return None
        return self.compare(rung.name, against, metric, kind)

    def compare(
        self, new: str, old: str, metric: str | None = None, kind: str | None = None
    ) -> Difference | None:
        """The difference of two rungs over the questions of both."""
        ids, metric = self._ids(kind), metric or self.main
        pair = (self.runs[new].scores(metric, ids), self.runs[old].scores(metric, ids))
        return difference([pair], self.groups)

    def over_better_arm(self, rung: str) -> Difference | None:
        """How far a rung is above the better arm alone; below -TOLERANCE is a fault."""
        arm = self.better_arm
        return self.compare(rung, arm) if arm and arm != rung else None

    @property
    def groups(self) -> dict[str, str]:
        """The group of each question that has one."""
        return {one.id: one.group for one in self.questions if one.group}

    def _ids(self, kind: str | None) -> list[str] | None:
        return None if kind is None else [one.id for one in self.questions if one.kind == kind]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, without the values of single questions."""
        return {
            "set": self.name,
            "documents": self.documents,
            "queries": len(self.questions),
            "k": self.k,
            "better_arm": self.better_arm,
            "rungs": [self._rung_json(rung) for rung in self.rungs],
        }

    def _rung_json(self, rung: Rung) -> dict[str, Any]:
        run = self.runs[rung.name]
        if run.unavailable:
            return {"rung": rung.name, "unavailable": run.unavailable}
        summary, change = run.summary(self.main), self.change(rung)
        found = self.interval(rung.name)
        over = self.over_better_arm(rung.name)
        return {
            "rung": rung.name,
            **{name: self.mean(rung.name, name) for name in self.metrics},
            "interval": [round(found.low, 6), round(found.high, 6)] if found else None,
            "against": self.against(rung),
            "change": change.to_json() if change else None,
            "over_better_arm": round(over.mean, 6) if over else None,
            "tokens": average(run.tokens),
            "p50_ms": _milliseconds(run.latency(0.5)),
            "p95_ms": _milliseconds(run.latency(0.95)),
            "stages_ms": {name: _milliseconds(ms) for name, ms in run.stages.items()},
            "kinds": {
                kind: {name: self.mean(rung.name, name, kind) for name in self.metrics}
                for kind in self.kinds
            },
            "scored": summary.scored,
            "failed": summary.failed,
            "not_scorable": summary.not_scorable,
            "failures": {name: one.reason for name, one in summary.failures.items()},
            "remarks": dict(run.remarks),
        }


def _milliseconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def average(values: Sequence[float]) -> float | None:
    """The mean, to one digit; None of nothing."""
    return round(sum(values) / len(values), 1) if values else None


def over_sets(
    reports: Sequence[Report], rung: str, against: str | None = None, metric: str | None = None
) -> Difference | None:
    """The difference of two rungs on the mean of several sets, where each set counts the same.

    Without `against` each set compares with what its own report does: the better arm may be another
    one. Sets where one of the two is missing are left out.
    """
    pairs = []
    for one in reports:
        step = next((step for step in one.rungs if step.name == rung), None)
        base = against or (one.against(step) if step else None)
        if step is None or base is None or one.runs[rung].unavailable or one.runs[base].unavailable:
            continue
        name = metric or one.main
        pairs.append((one.runs[rung].scores(name), one.runs[base].scores(name)))
    groups = {name: group for one in reports for name, group in one.groups.items()}
    return difference(pairs, groups) if pairs else None


def mean_over_sets(reports: Sequence[Report], rung: str, metric: str | None = None) -> float | None:
    """The mean of the sets' means; None where the rung is missing from one."""
    means = [one.mean(rung, metric) for one in reports if rung in one.runs]
    known = [mean for mean in means if mean is not None]
    return sum(known) / len(known) if known and len(known) == len(reports) else None
