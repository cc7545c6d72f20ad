"""Claims, their evidence and the verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragpg.types.hits import Hit
from ragpg.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a hit that speaks for or against a claim. Offsets are characters of hit.content."""

    number: int
    hit: Hit
    start: int
    end: int
    quote: str
    support: float


Verdict = Literal["supported", "partial", "unsupported", "contradicted"]
CitationState = Literal["right", "missing", "out of range", "wrong source"]


@dataclass(frozen=True, slots=True)
class Pair:
    """What a judge sees: a claim without its citation markers, and a span of evidence.

    `heading` is title, breadcrumb and source of the evidence, `around` the whole text that it was
    taken from. `overlap` is the share of the claim's content words in evidence and heading.
    """

    claim: str
    evidence: str
    heading: str = ""
    around: str = ""
    overlap: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says about a pair: a verdict, its support between 0 and 1, and why."""

    verdict: Verdict
    support: float
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """A number cited for a claim, held against what it cites; missing has no number."""

    number: int | None
    state: CitationState


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertive sentence of an answer with its verdict.

    `start`/`end` are characters of the answer. `support` is the highest of any span, between 0 and
    1, on the scale of `judge`. `evidence` is the best span, then one of each other source that says
    the same. `reasons` name what disagreed ("number 41 is not in the evidence"). `cited` are the
    numbers written in the sentence, `citations` what became of each.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    support: float
    evidence: Sequence[Evidence] = ()
    cited: Sequence[int] = ()
    reasons: Sequence[str] = ()
    citations: Sequence[CitationCheck] = ()
    judge: str = "lexical"


@dataclass(frozen=True, slots=True)
class Grounding:
    """Verdicts on an answer. confidence = (supported + partial / 2) / claims; None without claims.

    `bad_citations` are numbers in the answer that name no source. `judge` gave the verdicts; where
    it failed, `notes` say so and who stood in. `usage` is what the judge's models cost; of
    Client.ground what all of its models did.
    """

    answer: str
    claims: Sequence[Claim]
    confidence: float | None
    bad_citations: Sequence[int] = ()
    uncited: bool = False
    judge: str = "lexical"
    notes: Sequence[str] = ()
    usage: Usage = field(default_factory=Usage)

    def passes(self, gate: float) -> bool:
        """Whether the confidence is at least `gate`; an answer without claims has nothing to
        prove."""
        return self.confidence is None or self.confidence >= gate

    @property
    def state(self) -> str:
        """One of "no claims", "contradicted" (a claim is), "grounded" (>= 0.5) and "weak"."""
        if self.confidence is None:
            return "no claims"
        if any(claim.verdict == "contradicted" for claim in self.claims):
            return "contradicted"
        return "grounded" if self.confidence >= 0.5 else "weak"
