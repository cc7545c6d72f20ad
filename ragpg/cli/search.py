"""`ragpg search`: ranked chunks with their place and the rank in every arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.command()
@click.argument("query")
@options.namespaces_to_search
@click.option(
    "-k", "--k", default=10, show_default=True, type=click.IntRange(0), help="How many hits"
)
@options.filter_option
@options.ranking
@click.option(
    "--history", multiple=True, help="An earlier query of the conversation; repeat it, oldest first"
)
@click.option("--context", "as_context", is_flag=True, help="Print the numbered block of a prompt")
@options.profile
@options.connection
@options.json_output
def search(
    query: str,
    *,
    namespace: tuple[str, ...],
    k: int,
    filter_: dict[str, Any] | None,
    arms: dict[str, Any] | list[str] | None,
    rerank: bool,
    history: tuple[str, ...],
    as_context: bool,
    profile: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Find the chunks that answer QUERY, best first.

    \b
    ragpg search "how long do refunds take?"
    ragpg search refund -n handbook -k 5 --filter '{"year": {"gte": 2023}}'
    ragpg search refund --arms keyword --json
    ragpg search refund --arms '{"vector": {"weight": 2, "k": 100}, "graph": false}'
    """
    with clients.connect(**connection, profile=profile) as rag:
        result = rag.search(
            query, namespace=namespace, k=k, filter=filter_, arms=arms, rerank=rerank,
            history=history,
        )  # fmt: skip
    if as_json:
        output.print_json(output.result_json(result))
        return
    for remark in result.notes:
        output.note(remark)
    if as_context:
        click.echo(result.context)
        return
    click.echo(output.show_hits(result.hits) if result.hits else "Nothing found.")
    click.echo(f"\n{output.show_report(result.report)}")
