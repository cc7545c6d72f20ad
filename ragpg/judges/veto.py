"""A judge over a judge: what one finds supported, plain facts may still speak against."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.judges.lexical import reduced
from ragpg.judges.options import FIGURES, check_topics
from ragpg.query.agreement import disagreements
from ragpg.steps import Flow, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import Judge
    from ragpg.types import Judgement, Pair


class VetoJudge:
    """Asks `judge`; a supported or partial verdict falls where lexical facts disagree.

    topics  what is compared: number, unit, bound, date (the default), and negation, opposite,
            quantifier, name, role. Use all of them over an EmbeddingJudge, which sees none.

    A conflict makes the pair contradicted, a fact that the evidence does not have unsupported.
    """

    def __init__(self, judge: Judge, topics: Sequence[str] = FIGURES) -> None:
        check_topics(topics)
        self.inner = judge
        self.topics = frozenset(topics)

    @property
    def name(self) -> str:
        """The inner judge's name, and that facts may veto it."""
        return f"{self.inner.name} with veto"

    @property
    def candidates(self) -> int:
        """As many as the inner judge wants."""
        return int(getattr(self.inner, "candidates", 6))

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement | None]:
        """The inner judgements, each that supports a claim held against the facts."""
        return self._held(pairs, self.inner.judge(pairs))

    def flow(self, pairs: Sequence[Pair]) -> Flow[list[Judgement | None]]:
        """As judge, in steps."""
        inner = getattr(self.inner, "flow", None)
        steps = inner(pairs) if inner is not None else call(self.inner.judge, pairs)
        found = yield from steps
        held: list[Judgement | None] = yield from call(self._held, pairs, found)
        return held

    def _held(
        self, pairs: Sequence[Pair], found: Sequence[Judgement | None]
    ) -> list[Judgement | None]:
        if len(found) != len(pairs):
            return list(found)
        return [self._one(pair, one) for pair, one in zip(pairs, found, strict=True)]

    def _one(self, pair: Pair, judgement: Judgement | None) -> Judgement | None:
        if judgement is None or judgement.verdict not in ("supported", "partial"):
            return judgement
        against = [
            one
            for one in disagreements(pair.claim, pair.evidence, pair.heading, pair.around)
            if one.topic in self.topics
        ]
        if not against:
            return judgement
        conflict = any(one.kind == "conflict" for one in against)
        return replace(
            judgement,
            support=reduced(judgement.support, against),
            verdict="contradicted" if conflict else "unsupported",
            reasons=[*judgement.reasons, *(one.reason for one in against)],
        )
