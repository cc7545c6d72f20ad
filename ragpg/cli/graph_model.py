"""`ragpg graph extract`, `reports` and `overview`: what a chat model makes of the graph."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TextIO, Unpack

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.cli.options import Connection
    from ragpg.graph.community_reports import ReportsRun
    from ragpg.graph.extract import ExtractionReport
    from ragpg.graph.global_search_result import GlobalResult
    from ragpg.types import Usage

NAMESPACE = click.option(
    "-n", "--namespace", default="default", show_default=True, help="Namespace of the graph"
)
GENERATOR = click.option(
    "--generator",
    envvar="RAGPG_GENERATOR",
    help="openai or openai:MODEL [RAGPG_GENERATOR; OPENAI_BASE_URL for compatible services]",
)


def _working(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of the commands that send much to a model."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Count what would be sent; ask nothing"),
        click.option("--limit", type=click.IntRange(0), help="At most so many; the rest later"),
        click.option(
            "--parallel", default=4, show_default=True, type=click.IntRange(1),
            help="Requests that are out at the same time",
        ),
        click.option(
            "--prompt", type=click.File(encoding="utf-8"), help="File with another task"
        ),
        click.option(
            "--prices", nargs=2, type=click.FloatRange(0), metavar="IN OUT",
            help="USD per million tokens, to tell what it costs",
        ),
        click.option(
            "--structured/--plain", default=True,
            help="Ask for structured output, or in the prompt alone",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@GENERATOR
@click.option(
    "--batch", default=6, show_default=True, type=click.IntRange(1), help="Chunks of a request"
)
@click.option(
    "--tokens", default=4000, show_default=True, type=click.IntRange(1),
    help="Tokens of the chunks of a request",
)  # fmt: skip
@_working
@NAMESPACE
@options.address
@options.json_output
@click.pass_context
def extract(
    ctx: click.Context,
    *,
    generator: str | None,
    batch: int,
    tokens: int,
    dry_run: bool,
    limit: int | None,
    parallel: int,
    prompt: TextIO | None,
    prices: tuple[float, float] | None,
    structured: bool,
    namespace: str,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Let a chat model name the entities and relations of every chunk that it has not read.

    What is not in the text is not believed. Every batch is kept, so that a run which was stopped
    goes on, and the same text is never paid for twice. The exit code is 1 where a chunk could not
    be read.

    \b
    ragpg graph extract -n handbook --dry-run
    ragpg graph extract -n handbook --generator openai:gpt-4o-mini --prices 0.15 0.60
    ragpg graph extract --limit 50 --prompt task.txt
    """
    from ragpg.graph import extract as work
    from ragpg.graph import extraction

    model = clients.make_generator(generator)
    task = prompt.read() if prompt else extraction.PROMPT

    def told(report: ExtractionReport) -> None:
        if not as_json:
            click.echo(f"{report.read} chunks read, {report.failed} failed", err=True)

    with clients.connect(**connection, needs_embedder=False) as rag:
        if dry_run:
            found = rag.run(
                work.estimate(
                    namespace, model.model, prompt=task, batch=batch, tokens=tokens, limit=limit
                )
            )
            cost = None if prices is None else found.input_tokens * prices[0] / 1e6
            if as_json:
                counted = dataclasses.asdict(found) | {"input_usd": cost}
                output.print_json({"namespace": namespace} | counted)
            else:
                click.echo(
                    f"{found.chunks} chunks to read, {found.known} known from before: "
                    f"{found.requests} requests of {found.input_tokens} tokens"
                    + ("" if cost is None else f", {cost:.4f} USD")
                    + ", and what the model writes"
                )
            return
        report = rag.run(
            work.extract(
                namespace, model, prompt=task, batch=batch, tokens=tokens, limit=limit,
                parallel=parallel, structured=structured, on_batch=told,
            )
        )  # fmt: skip
    report = dataclasses.replace(report, usage=_priced(report.usage, prices))
    if as_json:
        output.print_json({"namespace": namespace} | dataclasses.asdict(report))
    else:
        for error in report.errors:
            output.note(error)
        click.echo(
            f"{report.read} chunks read, {report.known} known from before, {report.failed} failed:"
            f" {report.entities} mentions, {report.relations} relations; {_spent(report.usage)}"
        )
    ctx.exit(output.FAILED if report.failed else 0)


@click.command()
@GENERATOR
@click.option("--analyse", is_flag=True, help="Find the communities first")
@click.option(
    "--smallest", default=2, show_default=True, type=click.IntRange(1),
    help="Leave out communities of fewer documents",
)  # fmt: skip
@click.option(
    "--tokens", default=6000, show_default=True, type=click.IntRange(1),
    help="Tokens of the excerpts of a request",
)  # fmt: skip
@_working
@NAMESPACE
@options.connection
@options.json_output
@click.pass_context
def reports(
    ctx: click.Context,
    *,
    generator: str | None,
    analyse: bool,
    smallest: int,
    tokens: int,
    dry_run: bool,
    limit: int | None,
    parallel: int,
    prompt: TextIO | None,
    prices: tuple[float, float] | None,
    structured: bool,
    namespace: str,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Let a chat model report on every community whose documents it does not know as they are.

    Reports are kept by content: only what changed is paid for again. A report that fails is tried
    again by the next run, and the hub of its community stands in for it. The exit code is 1 where
    one failed.

    \b
    ragpg graph reports -n handbook --analyse --dry-run
    ragpg graph reports -n handbook --generator openai:gpt-4o-mini
    """
    from ragpg.graph import community_reports as work
    from ragpg.graph.analysis import analyse as analysis
    from ragpg.graph.community_reports_prompt import PROMPT

    model = clients.make_generator(generator)
    task = prompt.read() if prompt else PROMPT

    def told(run: ReportsRun) -> None:
        if not as_json:
            click.echo(f"{run.written} reports written, {run.failed} failed", err=True)

    with clients.connect(**connection, needs_embedder=not dry_run) as rag:
        if analyse:
            rag.run(analysis(namespace))
        run = rag.run(
            work.write_reports(
                namespace, model, rag.embedder, prompt=task, smallest=smallest, limit=limit,
                tokens=tokens, parallel=parallel, structured=structured, dry_run=dry_run,
                on_report=told,
            )
        )  # fmt: skip
    run = dataclasses.replace(run, usage=_priced(run.usage, prices))
    if as_json:
        output.print_json({"namespace": namespace} | dataclasses.asdict(run))
        ctx.exit(output.FAILED if run.failed else 0)
    for text in (*run.errors, *run.notes):
        output.note(text)
    if dry_run:
        cost = None if prices is None else run.input_tokens * prices[0] / 1e6
        click.echo(
            f"{run.left} of {run.communities} communities to report on: {run.input_tokens} tokens"
            + ("" if cost is None else f", {cost:.4f} USD")
            + ", and what the model writes"
        )
    else:
        click.echo(
            f"{run.communities} communities: {run.current} reports kept, {run.written} written,"
            f" {run.failed} failed, {run.left + run.changed} left; {_spent(run.usage)}"
        )
    ctx.exit(output.FAILED if run.failed else 0)


@click.command()
@click.argument("question")
@GENERATOR
@click.option(
    "-k", "--k", default=24, show_default=True, type=click.IntRange(1), help="Communities to read"
)
@click.option(
    "--tokens", default=6000, show_default=True, type=click.IntRange(1),
    help="Tokens of the reports of a request; where there are more, points are made of them first",
)  # fmt: skip
@click.option(
    "--parallel", default=4, show_default=True, type=click.IntRange(1),
    help="Requests that are out at the same time",
)  # fmt: skip
@click.option("--no-model", is_flag=True, help="Only show the communities")
@options.namespaces_to_search
@options.connection
@options.json_output
@click.pass_context
def overview(
    ctx: click.Context,
    question: str,
    *,
    generator: str | None,
    k: int,
    tokens: int,
    parallel: int,
    no_model: bool,
    namespace: tuple[str, ...],
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Answer a QUESTION about a whole corpus from the reports on its communities.

    A community without a report is shown by the first chunk of its hub. The exit code is 1 where
    there are no communities, and where the model failed.

    \b
    ragpg graph overview "What are the main subjects?" -n handbook
    ragpg graph overview "refunds" --no-model
    """
    from ragpg.graph.global_search import search_global

    model = None if no_model else clients.make_generator(generator)
    with clients.connect(**connection) as rag:
        found = rag.run(
            search_global(
                question, namespaces=namespace, embedder=rag.embedder, generator=model, k=k,
                tokens=tokens, parallel=parallel,
            )
        )  # fmt: skip
    if as_json:
        output.print_json(_overview_json(found))
    else:
        for note in found.notes:
            output.note(note)
        if found.answer is not None:
            click.echo(f"{found.answer}\n")
        cited = [one.hit.rank for one in found.citations]
        order = [found.reports[rank - 1] for rank in cited] if cited else found.reports
        for number, one in enumerate(order, 1):
            stale = ", older than its documents" if one.stale else ""
            output.say(f"[{number}] {one.title}: {one.size} documents, {one.kind}{stale}")
            if found.answer is None:
                output.say(f"    {' '.join(one.summary.split())[:400]}")
            output.say(f"    {', '.join(one.sources)}")
    failed = not found.reports or (model is not None and found.answer is None)
    ctx.exit(output.FAILED if failed else 0)


def _overview_json(found: GlobalResult) -> dict[str, Any]:
    grounding = found.grounding
    return {
        "question": found.query,
        "answer": found.answer,
        "citations": [
            {"number": one.number, "community": found.reports[one.hit.rank - 1].community_id}
            for one in found.citations
        ],
        "confidence": grounding.confidence if grounding else None,
        "reports": [dataclasses.asdict(one) for one in found.reports],
        "points": [dataclasses.asdict(one) for one in found.points],
        "usage": dataclasses.asdict(found.usage),
        "notes": list(found.notes),
    }


def _priced(usage: Usage, prices: tuple[float, float] | None) -> Usage:
    if prices is None:
        return usage
    cost = (usage.input_tokens * prices[0] + usage.output_tokens * prices[1]) / 1e6
    return dataclasses.replace(usage, cost_usd=cost)


def _spent(usage: Usage) -> str:
    cost = "" if usage.cost_usd is None else f", {usage.cost_usd:.4f} USD"
    return f"{usage.input_tokens} + {usage.output_tokens} tokens{cost}"
