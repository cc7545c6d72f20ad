"""`ragpg reembed`: another embedding model for a namespace that stays in use."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.cli.options import Connection
    from ragpg.client import Client
    from ragpg.protocols import Embedder
    from ragpg.queries_spaces import SpaceInfo
    from ragpg.reembed.compare import Comparison
    from ragpg.reembed.filling import ReembedReport


@click.command()
@options.namespace_argument(required=True)
@click.option("--missing", "only_missing", is_flag=True,
              help="Try the chunks again that have no vector; the model stays")  # fmt: skip
@click.option("--compare", "compare_with", metavar="EMBEDDER",
              help="The present embedder: put both models on the bench")  # fmt: skip
@click.option("--items", default=50, show_default=True, type=click.IntRange(1, 10_000),
              help="Chunks to make questions from, with --compare")  # fmt: skip
@click.option("--switch", is_flag=True, help="Search in the new space, once it is complete")
@click.option("--rollback", is_flag=True, help="Search in the former space again")
@click.option("--drop", is_flag=True, help="Delete the spaces that are not searched")
@click.option("--status", is_flag=True, help="List the spaces and how far they are")
@click.option("--model", help="Which of several spaces --switch and --drop mean")
@click.option("--allow-missing", default=0, show_default=True, type=click.IntRange(0),
              help="Switch although so many chunks have no vector")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="At most so many chunks/s")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Stop after so long")
@options.connection
@options.json_output
@click.pass_context
def reembed(
    ctx: click.Context,
    namespace: str,
    *,
    only_missing: bool,
    compare_with: str | None,
    items: int,
    switch: bool,
    rollback: bool,
    drop: bool,
    status: bool,
    model: str | None,
    allow_missing: int,
    rate: float | None,
    seconds: float | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Move NAMESPACE to another embedding model while it is searched and written.

    With --embedder the space of that model is built beside the one that is searched; interrupted,
    it goes on where it was. Ingestion keeps both complete. Searches change over with --switch, at
    once and as a whole, and back with --rollback; --drop deletes what is left behind. Exit code 1
    when chunks are left without a vector.

    \b
    ragpg reembed handbook --embedder openai:text-embedding-3-large
    ragpg reembed handbook --embedder openai:text-embedding-3-large --compare local --switch
    ragpg reembed handbook --status
    ragpg reembed handbook --rollback
    ragpg reembed handbook --drop
    ragpg reembed handbook --missing
    """
    from ragpg import reembed as change
    from ragpg.reembed.filling import Pace

    if sum([rollback, status, drop, only_missing]) > 1 or (rollback and switch):
        raise click.UsageError("choose one of --missing, --switch, --rollback, --drop, --status")
    pace = Pace(per_second=rate, seconds=seconds)
    result: dict[str, Any] = {}
    complete = True
    # With --switch alone, an embedder of the environment is the one that searches use.
    named = ctx.get_parameter_source("embedder") == click.core.ParameterSource.COMMANDLINE
    builds = (connection["embedder"] and not (rollback or drop or status or only_missing)) and (
        named or not switch
    )
    if not builds and not (rollback or drop or status or only_missing or switch):
        raise click.UsageError("name the new model with --embedder")
    embedder = clients.make_embedder(connection["embedder"]) if builds or only_missing else None
    with clients.open_client(connection["dsn"], connection["schema"], embedder) as rag:
        if builds and embedder is not None:
            report = change.build(rag, namespace, embedder, pace=pace, on_step=_progress)
            complete = _say(report, result, as_json=as_json)
            if compare_with and report.complete:
                _compare(rag, namespace, compare_with, embedder, items, result, as_json=as_json)
        elif only_missing:
            report = change.fill_missing(rag, namespace, pace=pace, on_step=_progress)
            complete = _say(report, result, as_json=as_json)
        if switch or rollback:
            chosen = embedder.model if builds and embedder else model
            space = change.switch(
                rag, namespace, model=chosen, back=rollback, missing=allow_missing
            )
            result["searched"] = asdict(space)
            complete = True
            _echo(f"{namespace} is searched with {space.model} ({space.dimensions})", as_json)
        if drop:
            gone = change.drop(rag, namespace, model=model)
            result["dropped"] = [asdict(one) for one in gone]
            names = ", ".join(f"{one.model} ({one.dimensions})" for one in gone) or "nothing"
            _echo(f"dropped: {names}", as_json)
        if status:
            found = change.spaces(rag, namespace)
            result["spaces"] = [asdict(one) for one in found]
            _echo(_table(found), as_json)
    if as_json:
        output.print_json(result)
    ctx.exit(0 if complete else output.FAILED)


def _progress(report: ReembedReport) -> None:
    if sys.stderr.isatty():
        rate = report.chunks / report.seconds if report.seconds else 0.0
        click.echo(
            f"\r{report.chunks} chunks, {report.computed} embedded, {rate:.0f}/s ",
            nl=False,
            err=True,
        )


def _say(report: ReembedReport, result: dict[str, Any], *, as_json: bool) -> bool:
    """Print what became of a space; whether every chunk has its vector."""
    if sys.stderr.isatty():
        click.echo(err=True)
    result["space"] = asdict(report)
    cost = report.usage.cost_usd
    said = (
        f"{report.model} ({report.dimensions}): {report.stored} chunks stored, "
        f"{report.computed} texts embedded in {report.seconds:.1f} s"
        + (f", {report.usage.input_tokens} tokens" if report.usage.input_tokens else "")
        + (f", {cost:.4f} USD" if cost is not None else "")
        + (", HNSW index" if report.indexed else "")
    )
    _echo(said, as_json)
    for chunk_id, reason in list(report.refused.items())[:20]:
        output.note(f"chunk {chunk_id} has no vector: {reason}")
    if not report.complete:
        _echo("not complete yet: run it again", as_json)
    elif report.missing:
        _echo(f"{report.missing} chunks have no vector", as_json)
    return report.complete and not report.missing


def _compare(
    rag: Client,
    namespace: str,
    present: str,
    new: Embedder,
    items: int,
    result: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from ragpg.reembed.compare import compare

    old = clients.make_embedder(present)
    if old is None:
        raise click.UsageError("--compare needs the embedder that the namespace is searched with")
    found = compare(rag, namespace, old, new, items=items)
    result["comparison"] = [
        {
            "rung": rung,
            "metric": metric,
            "old": before,
            "new": after,
            "change": change.to_json() if change else None,
        }
        for rung, metric, before, after, change in found.rows()
    ]
    _echo(_figures(found), as_json)


def _figures(found: Comparison) -> str:
    rows = []
    for rung, metric, before, after, change in found.rows():
        spread = f"{change.low:+.3f} to {change.high:+.3f}" if change else None
        rows.append(
            [rung, metric, f"{before or 0:.3f}", f"{after or 0:.3f}",
             f"{change.mean:+.3f}" if change else None, spread]
        )  # fmt: skip
    head = ["rung", "metric", found.old.model, found.new.model, "change", "95 % of resamples"]
    return (
        f"{len(found.report.questions)} questions made from chunks of {found.report.name}\n"
        + output.table(head, rows)
    )


def _table(spaces: Sequence[SpaceInfo]) -> str:
    head = ["space", "state", "model", "dimensions", "vectors", "missing", "index"]
    return output.table(
        head,
        [
            [one.space_id, one.state, one.model, one.dimensions, one.vectors, one.missing,
             "HNSW" if one.indexed else "none"]
            for one in spaces
        ],
    )  # fmt: skip


def _echo(text: str, as_json: bool) -> None:
    if not as_json:
        click.echo(text)
