"""A grounding for people and for programs: a report in text, and the JSON of every surface."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ragpg.query.label import place
from ragpg.terminal import visible

if TYPE_CHECKING:
    from ragpg.types import Claim, Evidence, Grounding

MARKS = {"supported": "+", "partial": "~", "unsupported": "?", "contradicted": "!"}
_QUOTE_WIDTH = 320


def render_grounding(grounding: Grounding) -> str:
    """A report for a terminal: each claim with its evidence and reasons, then the total."""
    blocks = []
    for claim in grounding.claims:
        text = visible(" ".join(claim.text.split()))
        lines = [f"{MARKS[claim.verdict]} {claim.verdict} ({claim.support:.2f})  {text}"]
        lines += [f"    {_quoted(evidence)}" for evidence in claim.evidence]
        lines += [f"    {reason}" for reason in claim.reasons]
        if any(one.state == "missing" for one in claim.citations):
            lines.append("    cites no source, unlike other claims of the answer")
        blocks.append("\n".join(lines))
    if grounding.bad_citations:
        numbers = ", ".join(f"[{number}]" for number in grounding.bad_citations)
        blocks.append(f"These citations name no source: {numbers}")
    blocks += grounding.notes
    confidence = "-" if grounding.confidence is None else f"{grounding.confidence:.2f}"
    judge = "" if grounding.judge == "lexical" else f" (judge: {grounding.judge})"
    blocks.append(f"confidence {confidence}: {grounding.state}{judge}")
    return "\n".join(blocks)


def _quoted(evidence: Evidence) -> str:
    where = " ".join(filter(None, (visible(evidence.hit.source), place(evidence.hit))))
    quote = visible(" ".join(evidence.quote.split()))
    quote = textwrap.shorten(quote, _QUOTE_WIDTH, placeholder=" …")
    return f"[{evidence.number}] {where}: {quote}"


def grounding_json(grounding: Grounding) -> dict[str, Any]:
    """A grounding in the documented form; see docs/grounding.md."""
    return {
        "answer": grounding.answer,
        "confidence": grounding.confidence,
        "state": grounding.state,
        "judge": grounding.judge,
        "notes": list(grounding.notes),
        "claims": [_claim_json(claim) for claim in grounding.claims],
        "bad_citations": list(grounding.bad_citations),
        "uncited": grounding.uncited,
    }


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "verdict": claim.verdict,
        "support": claim.support,
        "chars": [claim.start, claim.end],
        "judge": claim.judge,
        "reasons": list(claim.reasons),
        "cited": list(claim.cited),
        "citations": [{"number": one.number, "state": one.state} for one in claim.citations],
        "evidence": [
            {
                "number": one.number,
                "namespace": one.hit.namespace,
                "source": one.hit.source,
                "lines": list(one.hit.lines) if one.hit.lines else None,
                "page": one.hit.page,
                "quote": one.quote,
                "chars": [one.start, one.end],
                "support": one.support,
            }
            for one in claim.evidence
        ],
    }
