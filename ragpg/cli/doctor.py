"""`ragpg doctor`: is everything there, and what to do where it is not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection


@click.command()
@options.connection
@options.json_output
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool, **connection: Unpack[Connection]) -> None:
    """Check server, extensions, schema and embedder; exit code 1 if something must be mended.

    \b
    ragpg doctor
    ragpg doctor --json
    """
    # Not through a client: the doctor must also work where a client cannot.
    from ragpg.doctor import examine

    embedder = options.make_embedder(connection["embedder"])
    checks = examine(options.database(connection["dsn"]), connection["schema"], embedder=embedder)
    if as_json:
        output.print_json([dataclasses.asdict(one) for one in checks])
    else:
        for one in checks:
            click.echo(f"{one.status:<7}  {one.name:<22}  {one.detail}".rstrip())
            if one.remedy:
                click.echo(f"{'':<33}do: {one.remedy}")
    ctx.exit(output.FAILED if any(one.status == "error" for one in checks) else 0)
