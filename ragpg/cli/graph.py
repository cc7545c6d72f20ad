"""`ragpg graph`: Cypher over the mirror in AGE, and looking at the graph without it."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Unpack

import click

from ragpg.cli import clients, files, graph_analysis, graph_model, options, output
from ragpg.cli.graph_model import NAMESPACE
from ragpg.cli.groups import Group
from ragpg.errors import ConfigError
from ragpg.terminal import shell_word

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.graph.age import LabelChange, LabelState
    from ragpg.graph.analysis import GraphStatus


@click.group(cls=Group)
def graph() -> None:
    """The graph of documents and entities: show it, ask it in Cypher, keep its mirror in AGE.

    \b
    ragpg graph show --around refund.md
    ragpg graph cypher "MATCH (a)-[:LINKS]->(b) RETURN a.source, b.source"
    ragpg graph status

    `cypher`, `sync` and `drop` need the extension age; everything else works everywhere.
    """


@graph.command()
@click.argument("query")
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter: JSON, else text; repeat it for several",
)
@click.option("--timeout", default=10.0, show_default=True, help="Seconds")
@NAMESPACE
@options.address
@options.json_output
def cypher(
    query: str,
    *,
    params: tuple[str, ...],
    timeout: float,
    namespace: str,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Run a Cypher QUERY that reads.

    \b
    ragpg graph cypher "MATCH (d:Document) RETURN d.source LIMIT 5"
    ragpg graph cypher 'MATCH (a)-[:LINKS]->(b) WHERE b.source = $s RETURN a.source AS cites' \\
        -p s=refund.md --json
    """
    from ragpg.graph import age

    values = dict(_parameter(one) for one in params)
    with clients.connect(**connection, needs_embedder=False) as rag:
        rows = rag.run(age.cypher(query, values, namespace=namespace, timeout=timeout))
        names = list(rows[0]) if rows else rag.run(age.columns(query))
    if as_json:
        output.print_json(rows)
        return
    click.echo(output.table(names, [[_cell(row[name]) for name in names] for row in rows]))


@graph.command()
@click.option(
    "--mode",
    type=click.Choice(["transaction", "manual", "off"]),
    help="Also choose when the graph is written from now on: with the tables, by sync alone, never",
)
@NAMESPACE
@options.address
@options.json_output
def sync(
    *, mode: str | None, namespace: str, as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Bring a namespace's graph to its tables, and make it where there is none.

    Needed once for a namespace that is older than extension age in its database, after a restore,
    and in mode manual. Otherwise every ingest, move and delete changes the graph with the tables.

    \b
    ragpg graph sync -n handbook
    ragpg graph sync -n handbook --mode manual
    """
    from ragpg.graph import age

    with clients.connect(**connection, needs_embedder=False) as rag:
        if mode:
            rag.run(age.set_mode(mode, namespace))
        changes = [] if mode == "off" else rag.run(age.sync(namespace))
    _report(changes, namespace, as_json=as_json, mode=mode)


@graph.command()
@NAMESPACE
@options.address
@options.json_output
def rebuild(*, namespace: str, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Derive titles, mentions and links anew, and where AGE is also drop and remake the mirror.

    \b
    ragpg graph rebuild -n handbook
    """
    from ragpg.graph import age, analysis

    with clients.connect(**connection, needs_embedder=False) as rag:
        rag.run(analysis.rebuild(namespace))
        found = rag.run(age.available())
        mirrored = found.installed and found.applied
        changes = rag.run(age.rebuild(namespace)) if mirrored else []
    if changes or as_json:
        _report(changes, namespace, as_json=as_json)
    else:
        output.say(f"The graph of namespace {namespace} is what its texts say.")


@graph.command()
@NAMESPACE
@options.address
@options.json_output
@click.pass_context
def drop(
    ctx: click.Context, *, namespace: str, as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Drop a namespace's graph in AGE; its documents, entities and edges stay.

    \b
    ragpg graph drop -n handbook
    """
    from ragpg.graph import age

    with clients.connect(**connection, needs_embedder=False) as rag:
        dropped = rag.run(age.drop(namespace))
    if as_json:
        output.print_json({"namespace": namespace, "dropped": dropped})
    elif dropped:
        click.echo(
            f"The Cypher graph of namespace {namespace} is gone; `ragpg graph sync` makes it."
        )
    else:
        output.say(f"Namespace {namespace} has no Cypher graph.", err=True)
    ctx.exit(0 if dropped else output.FAILED)


@graph.command()
@options.address
@options.json_output
@click.pass_context
def status(ctx: click.Context, *, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Count the graphs, and tell whether every mirror in AGE is what its tables say.

    The exit code is 1 where a mirror is behind its tables, or missing.

    \b
    ragpg graph status --json
    """
    from ragpg.graph import age, analysis

    with clients.connect(**connection, needs_embedder=False) as rag:
        graphs = rag.run(analysis.status())
        found = rag.run(age.available())
        labels = rag.run(age.status())
    behind = [one for one in labels if one.mode != "off" and not one.is_current]
    if as_json:
        output.print_json(
            {
                "graphs": [dataclasses.asdict(one) for one in graphs],
                "age": dataclasses.asdict(found),
                "labels": [
                    dataclasses.asdict(one) | {"is_current": one.is_current} for one in labels
                ],
                "is_current": not behind,
            }
        )
        ctx.exit(output.FAILED if behind else 0)
    click.echo(_numbers_of(graphs) if graphs else "There is no namespace yet.")
    if not found.installed:
        click.echo("Extension age is not in this database: no Cypher; everything else works.")
    elif not found.applied:
        output.say(
            "Extension age is there, ragpg's functions for it are not; run: ragpg migrate, as a"
            " role with USAGE on schema ag_catalog"
        )
    else:
        if labels:
            click.echo(f"\n{_table_of(labels)}")
        for name in sorted({one.namespace for one in behind}):
            output.say(
                f"The graph of {name} is not current; run: ragpg graph sync -n {shell_word(name)}"
            )
    ctx.exit(output.FAILED if behind else 0)


for _one in (
    graph_analysis.analyse,
    graph_analysis.rank,
    graph_analysis.names,
    graph_model.extract,
    graph_model.reports,
    graph_model.overview,
):
    graph.add_command(_one)


@graph.command()
@click.option("--around", "start", required=True, metavar="ENTITY|SOURCE", help="What to look at")
@click.option("--hops", default=1, show_default=True, type=click.IntRange(1, 3), help="How far")
@click.option("-k", "--k", default=12, show_default=True, type=click.IntRange(1),
              help="Neighbours of a node, per kind of edge")  # fmt: skip
@click.option("--most", default=60, show_default=True, type=click.IntRange(1), help="Nodes in all")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "dot", "html", "json"]),
    default="text",
    show_default=True,
    help="What to write",
)
@click.option("-o", "--output", "file", type=click.Path(dir_okay=False), help="Write to this file")
@NAMESPACE
@options.address
@options.json_output
def show(
    *,
    start: str,
    hops: int,
    k: int,
    most: int,
    format_: str,
    file: str | None,
    namespace: str,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Show what lies around a document or an entity, as text, Graphviz or an HTML page.

    \b
    ragpg graph show --around refund.md
    ragpg graph show --around "Falcon" --hops 2 --format html -o falcon.html
    ragpg graph show --around refund.md --format dot | dot -Tsvg > refund.svg
    """
    from ragpg.graph import page
    from ragpg.graph import show as picture

    files.check_places(file)
    with clients.connect(**connection, needs_embedder=False) as rag:
        found = rag.run(picture.around(start, namespace=namespace, hops=hops, k=k, most=most))
    if as_json or format_ == "json":
        text = json.dumps(dataclasses.asdict(found), ensure_ascii=False)
    else:
        write = {"text": picture.as_text, "dot": picture.as_dot, "html": page.as_html}[format_]
        text = write(found)
    if file:
        files.write_file(file, text + "\n")
        output.say(f"{file}: {len(found.nodes)} nodes, {len(found.edges)} edges", err=True)
    else:
        click.echo(text)


def _parameter(text: str) -> tuple[str, Any]:
    name, given, value = text.partition("=")
    if not given or not name.isidentifier():
        raise ConfigError(
            f"--param {text}: a parameter is NAME=VALUE", hint='As in -p name="Falcon" or -p n=3.'
        )
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _report(
    changes: list[LabelChange], namespace: str, *, as_json: bool, mode: str | None = None
) -> None:
    if as_json:
        found: dict[str, Any] = {"namespace": namespace}
        found |= {"mode": mode} if mode else {}
        output.print_json(found | {"labels": [dataclasses.asdict(one) for one in changes]})
    elif changes:
        rows = [[one.label, one.added, one.removed, one.total] for one in changes]
        click.echo(output.table(["label", "added", "removed", "total"], rows))
    else:
        output.say(f"Namespace {namespace} has no Cypher graph now.")


def _table_of(labels: list[LabelState]) -> str:
    return output.table(
        ["namespace", "mode", "graph", "label", "rows", "should be"],
        [[one.namespace, one.mode, one.graph, one.label, one.rows, one.wanted] for one in labels],
    )


def _numbers_of(graphs: list[GraphStatus]) -> str:
    columns = ("namespace", "documents", "entities", "mentions", "relations", "links", "resolved",
               "ambiguous", "shared_terms", "communities", "changed_since",
               "titles_waiting")  # fmt: skip
    heads = [column.replace("_", " ") for column in columns]
    return output.table(heads, [[getattr(one, column) for column in columns] for one in graphs])
