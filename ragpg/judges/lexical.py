"""The default judge: shared words, and the disagreements that shared words hide. No model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragpg.judges.options import LexicalOptions
from ragpg.query.agreement import disagreements
from ragpg.types import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.sentence_words import Disagreement
    from ragpg.types import Pair, Verdict

_DEFAULT = LexicalOptions()
#: What a disagreement takes from the support: where the evidence says otherwise, and where it does
#: not say so; docs/decisions/grounding.md says how they were chosen.
CONFLICT, MISSING = 0.3, 0.1


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """supported from `supported` of the claim's content words on, partial from `partial` on.

    Where numbers, units, dates, negation, quantifiers, names or roles disagree a claim is
    contradicted (the evidence says otherwise) or unsupported (it does not say so), and its support
    is less. The thresholds are a convention; docs/grounding.md says what they give.
    """

    name: ClassVar[str] = "lexical"
    candidates: ClassVar[int] = 6

    supported: float = _DEFAULT.supported
    partial: float = _DEFAULT.partial

    def __post_init__(self) -> None:
        LexicalOptions(self.supported, self.partial)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """A judgement for each pair, each with the reasons that speak against it."""
        return [self._judge(pair) for pair in pairs]

    def _judge(self, pair: Pair) -> Judgement:
        if pair.overlap < self.partial:
            return Judgement("unsupported", pair.overlap)
        found = disagreements(pair.claim, pair.evidence, pair.heading, pair.around)
        verdict = self._verdict(pair.overlap, found)
        return Judgement(verdict, reduced(pair.overlap, found), [one.reason for one in found])

    def _verdict(self, support: float, differing: Sequence[Disagreement]) -> Verdict:
        if not differing:
            return "supported" if support >= self.supported else "partial"
        conflict = any(one.kind == "conflict" for one in differing)
        return "contradicted" if conflict and support >= self.supported else "unsupported"


def reduced(support: float, differing: Sequence[Disagreement]) -> float:
    """Support less what facts speak against it."""
    if not differing:
        return support
    conflict = any(one.kind == "conflict" for one in differing)
    return support * (1 - (CONFLICT if conflict else MISSING))
