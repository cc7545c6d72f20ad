"""`ragpg sentences`: vectors of sentences, for the sentence arm of a search."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.ingest.sentences import SentenceReport


@click.command()
@options.namespace_argument(required=True)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Stop after so long")
@options.connection
@options.json_output
@click.pass_context
def sentences(
    ctx: click.Context,
    namespace: str,
    *,
    seconds: float | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Embed the sentences of NAMESPACE that have no vectors yet.

    A search then ranks its candidates by their best sentence too, and ingestion keeps the vectors
    complete. Interrupted, it goes on where it was; the exit code is 1 when --seconds ended it.

    \b
    ragpg sentences handbook
    ragpg sentences handbook --seconds 600
    """

    def progress(report: SentenceReport) -> None:
        if sys.stderr.isatty():
            click.echo(
                f"\r{report.chunks} chunks, {report.sentences} sentences", nl=False, err=True
            )

    with clients.connect(**connection) as rag:
        report = rag.fill_sentences(namespace, seconds=seconds, on_step=progress)
    if sys.stderr.isatty():
        click.echo(err=True)
    if as_json:
        output.print_json(asdict(report))
    else:
        click.echo(
            f"{report.chunks} chunks, {report.sentences} sentences in {report.seconds:.1f} s"
            + ("" if report.complete else "; not complete yet")
        )
    ctx.exit(0 if report.complete else output.FAILED)
