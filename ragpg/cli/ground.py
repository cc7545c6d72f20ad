"""`ragpg ground`: what the documents say about each sentence of an answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, judge_options, options, output
from ragpg.query.grounding_report import grounding_json, render_grounding

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.command()
@click.argument("answer")
@click.option("-q", "--question", help="Retrieve for this; default: for the answer itself")
@options.namespaces_to_search
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    help="Exit with 1 when the confidence is lower, or there is no claim",
)
@options.filter_option
@judge_options.judge
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
    filter_: dict[str, Any] | None,
    judge: str | None,
    generator: str | None,
    profile: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Check every claim of ANSWER against the documents; no model judges, unless --judge names one.

    ANSWER is the text, or - to read it from standard input.

    \b
    ragpg ground "Refunds take 14 days." -n handbook
    ragpg ground - --question "How long do refunds take?" --min-confidence 0.5 < answer.txt
    """
    text = sys.stdin.read() if answer == "-" else answer
    chosen = judge or clients.chosen_profile(profile).judge
    model = clients.make_generator(generator) if chosen == "llm" else None
    with clients.connect(**connection, profile=profile, generator=model) as rag:
        grounding = rag.ground(
            text, question=question or text, namespace=namespace, filter=filter_, judge=judge
        )
    if as_json:
        output.print_json(grounding_json(grounding))
    else:
        click.echo(render_grounding(grounding))
    if min_confidence is not None and (grounding.confidence or 0.0) < min_confidence:
        ctx.exit(output.FAILED)
