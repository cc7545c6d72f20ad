"""`ragpg namespaces`: list, create and drop."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, options, output
from ragpg.cli.groups import Group
from ragpg.terminal import visible

if TYPE_CHECKING:
    from ragpg.cli.options import Connection

_COLUMNS = ("name", "kind", "language", "model", "dimensions", "documents", "failed", "chunks")


@click.group(cls=Group)
def namespaces() -> None:
    """List, create and drop namespaces: corpora that are searched apart.

    \b
    ragpg namespaces list
    ragpg namespaces create handbook --language german
    ragpg namespaces drop handbook --yes
    """


@namespaces.command("list")
@options.address
@options.json_output
def list_(*, as_json: bool, **connection: Unpack[Connection]) -> None:
    """List the namespaces with their model and counts.

    \b
    ragpg namespaces list --json
    """
    with clients.connect(**connection, needs_embedder=False) as rag:
        found = rag.namespaces()
    if as_json:
        output.print_json([dataclasses.asdict(one) for one in found])
    else:
        rows = [[getattr(one, column) for column in _COLUMNS] for one in found]
        click.echo(output.table(_COLUMNS, rows) if rows else "There is no namespace yet.")


@namespaces.command()
@click.argument("name")
@options.language
@click.option(
    "--kind",
    type=click.Choice(["knowledge", "memory"]),
    help="Default: as configured, else knowledge",
)
@options.address
@options.json_output
def create(
    name: str,
    *,
    language: str | None,
    kind: str | None,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Create the namespace NAME; nothing happens if it is there.

    \b
    ragpg namespaces create handbook --language german
    """
    with clients.connect(**connection, needs_embedder=False) as rag:
        rag.create_namespace(name, kind=kind, language=language)
        # It may have been there, with another language.
        [found] = [one for one in rag.namespaces() if one.name == name]
    if as_json:
        output.print_json({"name": name, "kind": found.kind, "language": found.language})
    else:
        output.say(f"Namespace {name} is there, {found.language}, {found.kind}.")


@namespaces.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask")
@options.address
@options.json_output
@click.pass_context
def drop(
    ctx: click.Context, name: str, *, yes: bool, as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Delete the namespace NAME with everything in it.

    \b
    ragpg namespaces drop handbook --yes
    """
    if not yes:
        click.confirm(f"Delete all documents of namespace {visible(name)}?", abort=True, err=True)
    with clients.connect(**connection, needs_embedder=False) as rag:
        dropped = rag.drop_namespace(name)
    if as_json:
        output.print_json({"name": name, "dropped": dropped})
    elif dropped:
        output.say(f"Namespace {name} is gone.")
    else:
        output.say(f"There is no namespace {name}.", err=True)
    ctx.exit(0 if dropped else output.FAILED)
