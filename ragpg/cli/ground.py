"""`ragpg ground`: what the documents say about each sentence of an answer."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.types import Grounding

_MARKS = {"supported": "+", "partial": "~", "unsupported": "?", "contradicted": "!"}


@click.command()
@click.argument("answer")
@click.option("-q", "--question", help="Retrieve for this; default: for the answer itself")
@options.namespaces_to_search
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    help="Exit with 1 when the confidence is lower, or there is no claim",
)
@options.profile
@options.connection
@options.json_output
@click.pass_context
def ground(
    ctx: click.Context,
    answer: str,
    *,
    question: str | None,
    namespace: tuple[str, ...],
    min_confidence: float | None,
    profile: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Check every claim of ANSWER against the documents; no model judges.

    ANSWER is the text, or - to read it from standard input.

    \b
    ragpg ground "Refunds take 14 days." -n handbook
    ragpg ground - --question "How long do refunds take?" --min-confidence 0.5 < answer.txt
    """
    text = sys.stdin.read() if answer == "-" else answer
    with options.connect(**connection, profile=profile) as rag:
        grounding = rag.ground(text, question=question or text, namespace=namespace)
    if as_json:
        output.print_json(grounding_json(grounding))
    else:
        click.echo(show_grounding(grounding))
    if min_confidence is not None and (grounding.confidence or 0.0) < min_confidence:
        ctx.exit(output.FAILED)


def show_grounding(grounding: Grounding) -> str:
    """Claims with verdict, evidence and reasons, for a terminal."""
    blocks = []
    for claim in grounding.claims:
        lines = [f"{_MARKS[claim.verdict]} {claim.verdict} ({claim.support:.2f})  {claim.text}"]
        for evidence in claim.evidence[:1]:
            quote = textwrap.shorten(" ".join(evidence.quote.split()), 320, placeholder=" …")
            lines.append(f"    [{evidence.number}] {output.place(evidence.hit)}: {quote}")
        lines.extend(f"    {reason}" for reason in claim.reasons)
        blocks.append("\n".join(lines))
    if grounding.bad_citations:
        numbers = ", ".join(f"[{number}]" for number in grounding.bad_citations)
        blocks.append(f"These citations name no source: {numbers}")
    confidence = "-" if grounding.confidence is None else f"{grounding.confidence:.2f}"
    blocks.append(f"confidence {confidence}: {grounding.state}")
    return "\n".join(blocks)


def grounding_json(grounding: Grounding) -> dict[str, Any]:
    """A grounding in the documented form; see docs/cli.md."""
    return {
        "answer": grounding.answer,
        "confidence": grounding.confidence,
        "state": grounding.state,
        "claims": [
            {
                "text": claim.text,
                "verdict": claim.verdict,
                "support": claim.support,
                "chars": [claim.start, claim.end],
                "cited": list(claim.cited),
                "reasons": list(claim.reasons),
                "evidence": [
                    {
                        "number": evidence.number,
                        "source": evidence.hit.source,
                        "lines": list(evidence.hit.lines) if evidence.hit.lines else None,
                        "quote": evidence.quote,
                        "support": evidence.support,
                    }
                    for evidence in claim.evidence
                ],
            }
            for claim in grounding.claims
        ],
        "bad_citations": list(grounding.bad_citations),
        "uncited": grounding.uncited,
    }
