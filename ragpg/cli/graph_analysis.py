"""`ragpg graph analyse`, `rank` and `names`: what is derived from the texts, without a model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.graph_model import NAMESPACE
from ragpg.terminal import shell_word

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.command()
@NAMESPACE
@options.address
@options.json_output
def analyse(*, namespace: str, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Compute shared terms, PageRank and communities anew; searches go on meanwhile.

    \b
    ragpg graph analyse -n handbook
    """
    from ragpg.graph import analysis

    with clients.connect(**connection, needs_embedder=False) as rag:
        found = rag.run(analysis.analyse(namespace))
    if as_json:
        output.print_json({"namespace": namespace} | found)
    else:
        click.echo("  ".join(f"{name} {value:,.6g}" for name, value in found.items()))


@click.command()
@click.option(
    "--near", "sources", multiple=True, metavar="SOURCE", help="Walk from this one; repeatable"
)
@click.option("--query", help="Walk from the five best keyword hits of this question")
@click.option("--hops", default=2, show_default=True, type=click.IntRange(1, 5), help="Of the walk")
@click.option("-k", "--k", default=20, show_default=True, type=click.IntRange(1), help="Documents")
@NAMESPACE
@options.address
@options.json_output
def rank(
    *,
    sources: tuple[str, ...],
    query: str | None,
    hops: int,
    k: int,
    namespace: str,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Documents by PageRank, or, near others, by Personalised PageRank.

    \b
    ragpg graph rank -n handbook
    ragpg graph rank -n handbook --near refunds.md
    ragpg graph rank -n handbook --query "gift cards"
    """
    from ragpg.graph import analysis

    with clients.connect(**connection, needs_embedder=False) as rag:
        found = rag.run(
            analysis.rank(namespace, sources=sources or None, query=query, k=k, hops=hops)
        )
    if as_json:
        output.print_json([dataclasses.asdict(one) for one in found])
    elif found:
        rows = [[f"{one.rank:.5f}", one.source, one.title, one.community] for one in found]
        click.echo(output.table(["rank", "source", "title", "community"], rows))
    else:
        output.say(f"No ranks yet; run: ragpg graph analyse -n {shell_word(namespace)}", err=True)


@click.command()
@click.option(
    "--extractor", type=click.Choice(["capitals", "spacy"]), default="spacy", show_default=True,
    help="Words in capitals, or a model of spaCy",
)  # fmt: skip
@NAMESPACE
@options.address
@options.json_output
def names(
    *, extractor: str, namespace: str, as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Find named entities without a chat model; spacy needs the extra `entities`.

    \b
    ragpg graph names -n handbook
    ragpg graph names --extractor capitals
    """
    from ragpg.graph.names import CapitalExtractor, SpacyExtractor, find_names

    reader = SpacyExtractor() if extractor == "spacy" else CapitalExtractor()
    with clients.connect(**connection, needs_embedder=False) as rag:
        found = rag.run(find_names(namespace, reader))
    if as_json:
        output.print_json({"namespace": namespace} | dataclasses.asdict(found))
    else:
        click.echo(f"{found.chunks} chunks read, {found.mentions} mentions")
