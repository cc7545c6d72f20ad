"""How well a score tells true cases from others: area under the curve, and figures at a threshold.

Intervals hold 95 %: of the area by Hanley and McNeil (Radiology 143, 1982), of balanced accuracy by
the normal approximation of two independent shares.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Scores, each with whether its case is a true one.
    Rows = Sequence[tuple[float, bool]]

_Z = 1.96


@dataclass(frozen=True, slots=True)
class Separation:
    """How a score tells true cases from others.

    `auc` is the chance that a true case has the higher score. The other figures are measured at
    `threshold`, from which on a case counts as true. Intervals are low and high end.
    """

    auc: float
    threshold: float
    precision: float
    recall: float
    balanced_accuracy: float
    claims: int
    auc_interval: tuple[float, float] = (0.0, 1.0)
    balanced_interval: tuple[float, float] = (0.0, 1.0)


def separation(rows: Rows, threshold: float) -> Separation:
    """The figures of scores at a threshold."""
    positives, negatives = _split(rows)
    hits, alarms = _above(positives, threshold), _above(negatives, threshold)
    recall = hits / len(positives) if positives else 0.0
    specificity = 1 - alarms / len(negatives) if negatives else recall
    balanced = (recall + specificity) / 2
    variance = _variance(recall, len(positives)) + _variance(specificity, len(negatives))
    area = area_under_curve(positives, negatives)
    return Separation(
        auc=area,
        threshold=threshold,
        precision=hits / (hits + alarms) if hits + alarms else 0.0,
        recall=recall,
        balanced_accuracy=balanced,
        claims=len(rows),
        auc_interval=_interval(area, _area_error(area, len(positives), len(negatives))),
        balanced_interval=_interval(balanced, math.sqrt(variance) / 2),
    )


def area_under_curve(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """The chance that a positive score is above a negative one; a tie counts half. 0.5 if none."""
    if not positives or not negatives:
        return 0.5
    below = sorted(negatives)
    # Twice the count of those below, a tie being counted once.
    counted = sum(bisect_left(below, one) + bisect_right(below, one) for one in positives)
    return counted / (2 * len(positives) * len(negatives))


def best_threshold(rows: Rows) -> float:
    """The score from which on a case counts as true, by highest balanced accuracy; the lowest such
    score."""
    positives, negatives = _split(rows)

    def balance(at: float) -> float:
        return _above(positives, at) / max(len(positives), 1) - _above(negatives, at) / max(
            len(negatives), 1
        )

    scores = sorted({score for score, _ in rows})
    return max(scores, key=lambda at: (balance(at), -at), default=0.5)


def _split(rows: Rows) -> tuple[list[float], list[float]]:
    return sorted(score for score, true in rows if true), sorted(
        score for score, true in rows if not true
    )


def _above(ordered: Sequence[float], threshold: float) -> int:
    return len(ordered) - bisect_left(ordered, threshold)


def _variance(share: float, count: int) -> float:
    return share * (1 - share) / count if count else 0.0


def _area_error(area: float, positives: int, negatives: int) -> float:
    if not positives or not negatives:
        return 0.5
    both = area / (2 - area) - area**2
    other = 2 * area**2 / (1 + area) - area**2
    variance = area * (1 - area) + (positives - 1) * both + (negatives - 1) * other
    return math.sqrt(max(variance, 0.0) / (positives * negatives))


def _interval(value: float, error: float) -> tuple[float, float]:
    return max(value - _Z * error, 0.0), min(value + _Z * error, 1.0)
