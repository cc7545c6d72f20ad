"""Chooses how to fuse from judged queries: cross-validated, no query is scored by its own choice.

The candidates are few and the default stays unless one beats it by more than the standard error of
the difference: with a few dozen queries anything finer would learn their accidents (Breiman et al.
1984, section 3.4.3, the one-standard-error rule).
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragpg.errors import ConfigError
from ragpg.evaluate.bootstrap import SEED, Difference, difference
from ragpg.evaluate.folds import held_out

#: What `ragpg.fusion_options` takes.
Fusion = Mapping[str, Any]
#: (question, fusion) -> how well the question was answered, higher is better (nDCG@10).
Measure = Callable[[str, Fusion], float]
#: Called with (fusions done, fusions in all).
Progress = Callable[[int, int], object]

DEFAULT: Fusion = {"method": "adaptive"}
#: The default first, then the same leaning to vectors or to words, one weight for all queries, and
#: the methods without a choice to make.
CANDIDATES: tuple[Fusion, ...] = (
    DEFAULT,
    *({"method": "adaptive", "bias": bias} for bias in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)),
    *({"method": "convex", "alpha": alpha} for alpha in (0.1, 0.3, 0.5, 0.7, 0.9)),
    {"method": "rrf", "rrf_k": 10},
    {"method": "minmax"},
)
#: Fewer questions tell nothing.
LEAST = 10


@dataclass(frozen=True, slots=True)
class Tuning:
    """A fusion for a namespace's settings or a profile, and what it is worth.

    `held_out` is the mean over all questions, each answered by the fusion that the questions of the
    other folds chose; `default` is the mean of the default on the same questions, `change` the
    difference with its interval. `by_fold` names the choice of every fold: where they differ much,
    there were too few questions. `means` are the means on all questions, for a look at them only.
    """

    fusion: Fusion
    held_out: float
    default: float
    change: Difference
    by_fold: Sequence[Fusion]
    means: Sequence[tuple[Fusion, float]]
    questions: int


def tune(
    questions: Sequence[str],
    measure: Measure,
    *,
    candidates: Sequence[Fusion] = CANDIDATES,
    folds: int = 5,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Tuning:
    """Choose among `candidates`, of which the first is the default.

    Every question is asked once with each candidate. Where the held-out mean is not above the
    default's, the default is the result: a choice that does not carry over is no choice. Raises
    ConfigError with fewer than 10 questions, fewer than two folds or without candidates.
    """
    if len(questions) < LEAST or not 2 <= folds <= len(questions) or not candidates:
        raise ConfigError(
            f"{len(questions)} questions in {folds} folds with {len(candidates)} candidates cannot"
            " tune a fusion",
            hint=f"Give at least {LEAST} judged questions, two folds and a candidate.",
        )
    scores: list[list[float]] = []
    for number, fusion in enumerate(candidates, start=1):
        scores.append([measure(question, fusion) for question in questions])
        if progress is not None:
            progress(number, len(candidates))
    order = list(range(len(questions)))
    random.Random(seed).shuffle(order)
    by_place, chosen = held_out(
        order, folds, lambda rest: _choose(scores, rest), lambda one, place: scores[one][place]
    )
    outside = [by_place[place] for place in range(len(questions))]
    change = difference([(_named(outside), _named(scores[0]))])
    assert change is not None  # there are questions
    better = statistics.fmean(outside) > statistics.fmean(scores[0])
    return Tuning(
        fusion=candidates[_choose(scores, order)] if better else candidates[0],
        held_out=statistics.fmean(outside),
        default=statistics.fmean(scores[0]),
        change=change,
        by_fold=[candidates[one] for one in chosen],
        means=[(one, statistics.fmean(of)) for one, of in zip(candidates, scores, strict=True)],
        questions=len(questions),
    )


def _named(values: Sequence[float]) -> dict[str, float]:
    return {str(place): value for place, value in enumerate(values)}


def _choose(scores: Sequence[Sequence[float]], places: Sequence[int]) -> int:
    """The best candidate on these questions; the first, unless beaten beyond chance."""
    means = [statistics.fmean(of[place] for place in places) for of in scores]
    best = max(range(len(scores)), key=lambda one: (means[one], -one))
    gains = [scores[best][place] - scores[0][place] for place in places]
    error = statistics.stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return best if means[best] - means[0] > error else 0
