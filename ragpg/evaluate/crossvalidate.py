"""Learning a setting from judged queries without fooling oneself.

The queries are dealt into folds. For each fold a setting is chosen on the others, and only the
fold's own queries are scored with it: the reported number is of queries that had no say. The
default stays unless another beats it by more than the standard error of the difference; with a few
dozen queries anything finer learns their accidents (Breiman et al. 1984, section 3.4.3).
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.evaluate.bootstrap import Difference, difference
from ragpg.evaluate.folds import held_out
from ragpg.evaluate.ladder import Rung, bare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.evaluate.climb import Climb

FOLDS = 5
#: How lists may be fused; the first is the default, and wins ties.
FUSIONS: Sequence[Mapping[str, Any]] = (
    {"method": "adaptive"},
    *({"method": "adaptive", "bias": bias} for bias in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)),
    *({"method": "convex", "alpha": round(0.1 * n, 1)} for n in range(1, 10)),
    {"method": "minmax"},
    *({"method": "rrf", "rrf_k": k} for k in (10, 60)),
)


@dataclass(frozen=True, slots=True)
class Tuned:
    """A setting chosen from judged queries.

    `best` is the choice on all of them. `held_out` holds the score of each query under
    the choice of the other folds, `chosen` how often each setting was one. `gain` compares the held
    out scores with the default's.
    """

    metric: str
    best: Mapping[str, Any]
    held_out: Mapping[str, float]
    chosen: Mapping[str, int]
    gain: Difference | None
    means: Mapping[str, float]

    @property
    def worth_it(self) -> bool:
        """Whether the choice beat the default on queries that had no say, by more than chance."""
        return self.gain is not None and self.gain.significant and self.gain.mean > 0

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "metric": self.metric,
            "queries": len(self.held_out),
            "fusion": dict(self.best),
            "held_out": round(math.fsum(self.held_out.values()) / len(self.held_out), 6),
            "gain": self.gain.to_json() if self.gain else None,
            "worth_it": self.worth_it,
            "chosen": dict(self.chosen),
            "means": {name: round(mean, 6) for name, mean in self.means.items()},
        }


def name_of(setting: Mapping[str, Any]) -> str:
    """`convex alpha=0.4`."""
    rest = [f"{key}={value}" for key, value in setting.items() if key != "method"]
    return " ".join([str(setting.get("method", "")), *rest]).strip()


def tune_fusion(climb: Climb, fusions: Sequence[Mapping[str, Any]] = FUSIONS) -> Tuned:
    """Run every way to fuse the two arms, and choose one by cross-validation.

    Raises ConfigError without an embedder, and with fewer queries than two for each fold.
    """
    if climb.rag.embedder is None:
        raise ConfigError("there is nothing to fuse without an embedder")
    arms = {**bare().arms, "vector": True, "keyword": True}
    metric = f"nDCG@{climb.k}"
    scores = {}
    for fusion in fusions:
        name = name_of(fusion)
        profile = replace(bare(), name=name, arms=arms, fusion=fusion)
        run = climb.run(Rung(name, profile))
        if run.unavailable is None:
            scores[name] = run.scores(metric)
    settings = {name_of(fusion): fusion for fusion in fusions}
    return choose_setting(metric, settings, scores)


def choose_setting(
    metric: str,
    settings: Mapping[str, Mapping[str, Any]],
    scores: Mapping[str, Mapping[str, float]],
    folds: int = FOLDS,
) -> Tuned:
    """Cross-validate a choice among settings from the score of each query under each of them.

    The first setting is the default: it stays unless it is beaten beyond chance, and the gain is
    over it. Raises ConfigError with fewer queries than two for each fold.
    """
    names = list(scores)
    queries = sorted(set.intersection(*(set(one) for one in scores.values()))) if scores else []
    if len(queries) < 2 * folds:
        raise ConfigError(
            f"{len(queries)} judged queries are too few to learn from",
            hint=f"At least {2 * folds} are needed; 50 give a choice worth having.",
        )
    # By a hash: neighbours in a file are often about one matter.
    order = sorted(queries, key=lambda one: hashlib.sha256(one.encode()).digest())
    outside, chosen = held_out(
        order, folds, lambda rest: _best(names, scores, rest), lambda one, query: scores[one][query]
    )
    default = scores[names[0]]
    return Tuned(
        metric,
        settings[_best(names, scores, queries)],
        outside,
        dict(Counter(chosen).most_common()),
        difference([(outside, {query: default[query] for query in queries})]),
        {name: math.fsum(scores[name][one] for one in queries) / len(queries) for name in names},
    )


def _best(
    names: Sequence[str], scores: Mapping[str, Mapping[str, float]], queries: Sequence[str]
) -> str:
    means = {name: math.fsum(scores[name][one] for one in queries) for name in names}
    # max takes the first of equals, and the default is the first.
    best = max(names, key=lambda name: round(means[name], 9))
    gains = [scores[best][one] - scores[names[0]][one] for one in queries]
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    # One query alone gains as much as its own error, but for the rounding.
    return best if statistics.fmean(gains) > error * (1 + 1e-9) else names[0]
