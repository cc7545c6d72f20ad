"""What becomes of a grounded answer: a report, or the text with its weak claims marked or out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ragpg.types import Grounding


def render_grounding(grounding: Grounding) -> str:
    """A report for a terminal: one line a claim with its reasons and evidence, then the total."""
    marks = {"supported": "+", "partial": "~", "unsupported": "?", "contradicted": "!"}
    lines: list[str] = []
    for claim in grounding.claims:
        text = " ".join(claim.text.split())
        lines.append(f"{marks[claim.verdict]} {claim.verdict:<12} {claim.support:.2f}  {text}")
        lines.extend(f"    because {reason}" for reason in claim.reasons)
        for evidence in claim.evidence:
            quote = " ".join(evidence.quote.split())
            lines.append(f"    [{evidence.number}] {evidence.hit.source}: {quote}")
    if grounding.confidence is None:
        lines.append("no claims")
    else:
        counts: Counter[str] = Counter(claim.verdict for claim in grounding.claims)
        total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in marks if counts[verdict])
        lines.append(f"confidence {grounding.confidence:.2f} ({grounding.state}): {total}")
    if grounding.bad_citations:
        numbers = ", ".join(map(str, grounding.bad_citations))
        lines.append(f"citations that name no source: {numbers}")
    if grounding.uncited and grounding.claims:
        lines.append("the answer cites no source")
    return "\n".join(lines)


def mark_answer(grounding: Grounding, mode: Literal["mark", "drop"] = "mark") -> str:
    """The answer with its unsupported and contradicted claims marked, or without them.

    mark puts "[unsupported]" or "[contradicted]" behind the claim; drop takes the sentence out, and
    with it a list item that holds nothing else.
    """
    text = grounding.answer
    for claim in sorted(grounding.claims, key=lambda one: one.start, reverse=True):
        if claim.verdict not in ("unsupported", "contradicted"):
            continue
        if mode == "mark":
            text = f"{text[: claim.end]} [{claim.verdict}]{text[claim.end :]}"
            continue
        before, after = text[: claim.start], text[claim.end :]
        line = before[before.rfind("\n") + 1 :]
        if not line.strip(" \t>-*+•_.)(0123456789") and not after.partition("\n")[0].strip(" *_"):
            before, after = before[: len(before) - len(line)], after.partition("\n")[2]
            text = before + after
        else:
            text = (
                before.rstrip(" \t") + after if after[:1] in ("", "\n") else before + after.lstrip()
            )
    return text.strip() if mode == "drop" else text
