"""What feedback says of passages, applied to the order of a search."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from ragpg.types import ArmReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Hit

#: A prior beyond these is none of ours.
LEAST, MOST = 0.85, 1.15


def apply_prior(hits: Sequence[Hit], report: dict[str, ArmReport]) -> list[Hit]:
    """Hits with their scores multiplied by their priors, in the new order; ranks are left alone.

    Scores of different scales are not comparable, so hits stay among those of their scale. On a
    scale that goes below zero the distance from the lowest score is multiplied instead: a factor
    above 1 raises a hit on every scale. Without history nothing is touched and nothing reported.
    """
    known = sum(hit.prior is not None for hit in hits)
    if not known:
        return list(hits)
    ordered: list[Hit] = []
    for _, group in groupby(hits, key=lambda hit: hit.score_kind):
        ordered += _within(list(group))
    moved = sum(one.chunk_id != two.chunk_id for one, two in zip(hits, ordered, strict=True))
    report["prior"] = ArmReport(rows=known, mode=f"{moved} places changed")
    return ordered


def _within(hits: list[Hit]) -> list[Hit]:
    scores = [hit.score for hit in hits]
    if scores != sorted(scores, reverse=True):
        # Somebody ordered them by other reasons than their scores, which a factor cannot weigh.
        return hits
    floor = min(0.0, *scores)
    weighted = [
        hit
        if hit.prior is None
        else replace(hit, score=floor + (hit.score - floor) * min(max(hit.prior, LEAST), MOST))
        for hit in hits
    ]
    # Equal scores keep the order in which they came.
    return sorted(weighted, key=lambda hit: -hit.score)
