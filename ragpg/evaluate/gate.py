"""A gate for continuous runs: thresholds that a rung must reach, or the command fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.evaluate.ladder import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.evaluate.report import Report


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least that a metric may be. Without `rung` the default profile is meant, or the last rung
    that ran where there is none."""

    metric: str
    value: float
    rung: str | None = None


def parse(text: str) -> Threshold:
    """`METRIC=VALUE` or `RUNG:METRIC=VALUE`, as "nDCG@10=0.7". Raises ConfigError."""
    left, mark, right = text.rpartition("=")
    rung, _, metric = left.rpartition(":")
    try:
        value = float(right)
    except ValueError:
        value = -1.0
    if not mark or not metric.strip() or not 0 <= value <= 1:
        raise ConfigError(
            f"{text!r} is no threshold",
            hint="Write METRIC=VALUE or RUNG:METRIC=VALUE, as nDCG@10=0.7, with 0 <= VALUE <= 1.",
        )
    return Threshold(metric.strip(), value, rung.strip() or None)


def failures(
    report: Report, thresholds: Sequence[Threshold], *, max_failed_share: float = 0.05
) -> list[str]:
    """A sentence for each threshold that is missed.

    A rung also misses it when it is not available, or when more than `max_failed_share` of the
    questions failed: a mean over what is left would rise as things break. Raises ConfigError for an
    unknown rung or metric.
    """
    found = []
    for threshold in thresholds:
        metric = _metric(report, threshold.metric)
        rung = _rung(report, threshold.rung)
        run = report.runs[rung]
        summary, mean = run.summary(metric), report.mean(rung, metric)
        where = f"{report.name}: {rung}: {metric}"
        if run.unavailable:
            found.append(f"{where} is not available: {run.unavailable}")
        elif (
            not summary.passes(threshold.value, max_failed_share=max_failed_share)
            or mean is None
            or mean < threshold.value
        ):
            said = "unknown" if mean is None else f"{mean:.4f}"
            broken = f", {len(summary.failures)} questions failed" if summary.failures else ""
            found.append(f"{where} is {said}, below {threshold.value:g}{broken}")
    return found


def _metric(report: Report, name: str) -> str:
    """A metric in any case, with or without its @k."""
    for metric in report.metrics:
        if name.lower() in (metric.lower(), metric.lower().partition("@")[0]):
            return metric
    raise ConfigError(
        f"there is no metric {name!r}", hint=f"Metrics are {', '.join(report.metrics)}."
    )


def _rung(report: Report, name: str | None) -> str:
    names = [rung.name for rung in report.rungs]
    if name is None:
        ran = [rung.name for rung in report.available]
        return DEFAULT if DEFAULT in names else (ran or names)[-1]
    if name not in names:
        raise ConfigError(f"there is no rung {name!r}", hint=f"Rungs are {', '.join(names)}.")
    return name
