"""How likely it is that a search found something relevant.

A fused score says which hit is better than another and nothing about whether any is good. This is
a probability instead: that one of the k hits is relevant. It is a logistic model of a few signals
that SQL reports with the arms (ragpg.confidence_signals), fitted on six judged sets, half of the
queries having no answer in the corpus. docs/decisions/confidence.md has the calibration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragpg.query.legible import was_unread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.types import ArmReport, Hit

#: Below this a search is worth another attempt: most results under it hold nothing relevant.
WEAK = 0.35

#: Weights by which arms spoke. The names are those of the signals, with the arm in front;
#: `depth` is the logarithm of the number of hits, `words` of one more than the query's terms.
_MODELS: Mapping[frozenset[str], Mapping[str, float]] = {
    frozenset({"keyword", "vector"}): {
        "bias": -6.25,
        "depth": 0.83,
        "keyword.gap": 7.52,
        "keyword.unknown": -3.33,
        "keyword.words": 0.53,
        "vector.near": 5.09,
        "vector.gap": 2.48,
        "agreement": 1.58,
    },
    frozenset({"keyword"}): {
        "bias": -6.56,
        "depth": 0.72,
        "keyword.coverage": 3.15,
        "keyword.gap": 7.86,
        "keyword.unknown": -5.01,
        "keyword.words": 1.68,
    },
    frozenset({"vector"}): {
        "bias": -6.39,
        "depth": 0.75,
        "vector.near": 8.01,
        "vector.gap": 8.90,
    },
}
#: For words alone where the embedding model cannot read the query: fitted on six languages of other
#: scripts. Their words are seldom found as they stand, so that unknown ones say nothing against a
#: result, and the signals are shares of the weight that is known.
_UNREAD: Mapping[str, float] = {
    "bias": -5.04,
    "depth": 0.08,
    "keyword.coverage": 11.24,
    "keyword.gap": 11.82,
}
#: Where less than this of the weight is known, it is taken for this: one word of ten is no query.
_LEAST_KNOWN = 0.5
#: The model knows lists of one to ten hits.
_DEEPEST = 10
#: Beyond this the logistic is 0 or 1 for a float.
_CERTAIN = 30.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probability, from 0 to 1, that one of the hits is relevant, and what it is made of.

    `parts` are the terms of the sum whose logistic is `value`: above 0 speaks for the result. The
    part "bias" is the same for every query. Without hits the value is 0. `known` is False where
    neither the keyword nor the vector arm found anything (hits by filter, graph or retrievers of
    one's own): then nothing can be told and the value is 0.5.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    known: bool = True

    @property
    def weak(self) -> bool:
        """Whether another attempt is worth its time."""
        return self.known and self.value < WEAK


def confidence(query: str, hits: Sequence[Hit], report: Mapping[str, ArmReport]) -> Confidence:
    """How likely one of `hits` is relevant to `query`, from the signals in the arms' reports.

    Works with keyword and vector arm, or with one of them, and knows from the report of the stage
    "embed" whether the vector was left out because the model cannot read the query. A blank query
    asks for nothing: its hits come from the filter, and the value is 0.5, not known.
    """
    if not hits:
        return Confidence(0.0)
    signals = _signals(report) if query.strip() else {}
    spoke = frozenset(name.partition(".")[0] for name in signals if "." in name)
    model = _MODELS.get(spoke)
    if spoke == {"keyword"} and was_unread(report):
        model = _UNREAD
        known = max(1 - signals.get("keyword.unknown", 0.0), _LEAST_KNOWN)
        signals = {name: value / known for name, value in signals.items()}
    if model is None:
        return Confidence(0.5, known=False)
    signals |= {"bias": 1.0, "depth": math.log(min(len(hits), _DEEPEST))}
    parts = {name: weight * signals.get(name, 0.0) for name, weight in model.items()}
    total = max(-_CERTAIN, min(_CERTAIN, sum(parts.values())))
    return Confidence(1 / (1 + math.exp(-total)), parts)


def _signals(report: Mapping[str, ArmReport]) -> dict[str, float]:
    """The signals of both arms by name; those of an arm that found nothing are missing."""
    found: dict[str, float] = {}
    for arm in ("keyword", "vector"):
        told = report[arm].signals if arm in report else {}
        for name, value in told.items():
            if value is None or not math.isfinite(value):
                continue
            if name == "terms":
                found[f"{arm}.words"] = math.log1p(value)
            elif name == "agreement":
                found[name] = float(value)
            else:
                found[f"{arm}.{name}"] = float(value)
    return found
