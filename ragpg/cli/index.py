"""`ragpg index`: the vector indexes, how far a build is, and building them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.groups import Group

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.group(cls=Group)
def index() -> None:
    """Look after the vector indexes.

    \b
    ragpg index status
    ragpg index build
    """


@index.command()
@options.address
@options.json_output
def status(*, as_json: bool, **connection: Unpack[Connection]) -> None:
    """List the HNSW index of every embedding space; while one is built, how far it is.

    \b
    ragpg index status
    watch ragpg index status
    """
    from ragpg.vector_index import index_status

    found = index_status(clients.database(connection["dsn"]), schema=connection["schema"])
    if as_json:
        output.print_json(found)
        return
    head = ["space", "model", "dimensions", "vectors", "index", "phase", "done", "size"]
    rows = [
        [one["space_id"], one["model"], one["dimensions"], one["vectors"], one["state"],
         one["phase"], None if one["percent"] is None else f"{one['percent']:.0f} %",
         None if not one["bytes"] else f"{one['bytes'] / 1e6:.0f} MB"]
        for one in found
    ]  # fmt: skip
    click.echo(output.table(head, rows))


@index.command()
@click.argument("space", type=int, required=False)
@click.option("--workers", type=click.IntRange(0, 64), help="Parallel workers of the build")
@click.option("-m", "--m", default=16, show_default=True, type=click.IntRange(2, 100),
              help="Neighbours of a node in the index")  # fmt: skip
@click.option("--ef-construction", default=128, show_default=True, type=click.IntRange(4, 1000),
              help="Larger is slower to build and finds more")  # fmt: skip
@options.address
@options.json_output
def build(
    *,
    space: int | None,
    workers: int | None,
    m: int,
    ef_construction: int,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Build the HNSW index of a SPACE, or of every space that wants one, while others write on.

    A build that fails leaves nothing behind.

    \b
    ragpg index build
    ragpg index build 2 --workers 4
    """
    from ragpg.vector_index import build_index, index_status
    from ragpg.vectors import INDEX_FROM

    address = clients.database(connection["dsn"])
    schema = connection["schema"]
    wanted = [
        one["space_id"]
        for one in index_status(address, schema=schema)
        if one["state"] in ("none", "invalid")
        and (one["space_id"] == space or (space is None and (one["vectors"] or 0) > INDEX_FROM))
    ]
    building = output.IndexLine()
    built = [
        one
        for one in wanted
        if build_index(
            address, one, schema=schema, workers=workers, m=m, ef_construction=ef_construction,
            on_progress=building,
        )
    ]  # fmt: skip
    building.end()
    if as_json:
        output.print_json({"built": built})
    else:
        click.echo(f"built: {', '.join(map(str, built)) or 'nothing'}")
