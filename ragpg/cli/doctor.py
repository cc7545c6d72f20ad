"""`ragpg doctor`: is everything there, and what to do where it is not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, config_option, options, output

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.repair import Repair


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended, then check")
@options.connection
@options.json_output
@click.pass_context
def doctor(
    ctx: click.Context, *, fix: bool, as_json: bool, **connection: Unpack[Connection]
) -> None:
    """Check server, extensions, schema and embedder; exit code 1 if something must be mended.

    --fix drops tables of spaces that are gone, lapsed claims and cached vectors of texts that are
    gone for longer than [settings] vector_retention, builds missing and broken indexes while others
    write on, folds and rebuilds the statistics of words, gives chunks their keywords
    and, with their namespace's --embedder, their vectors, and analyses tables.

    \b
    ragpg doctor
    ragpg doctor --fix
    ragpg doctor --json
    """
    # Not through a client: the doctor must also work where a client cannot.
    from ragpg.doctor import examine
    from ragpg.graph.analysis import STALE_SHARE

    embedder = clients.make_embedder(connection["embedder"])
    retention = clients.settings().vector_retention
    config = config_option.configuration()
    share = STALE_SHARE if config is None else config.graph.share
    repairs: list[Repair] = []
    if fix:
        from ragpg.repair import repair

        repairs = repair(
            clients.database(connection["dsn"]),
            connection["schema"],
            embedder=embedder,
            on_repair=None if as_json else _show,
            retention=retention,
            share=share,
        )
    checks = examine(
        clients.database(connection["dsn"]),
        connection["schema"],
        embedder=embedder,
        retention=retention,
        share=share,
    )
    if as_json:
        found = [dataclasses.asdict(one) for one in checks]
        mended = [dataclasses.asdict(one) for one in repairs]
        output.print_json({"checks": found, "repairs": mended} if fix else found)
    else:
        for one in checks:
            output.say(f"{one.status:<7}  {one.name:<22}  {one.detail}".rstrip())
            if one.remedy:
                output.say(f"{'':<33}do: {one.remedy}")
    ctx.exit(output.FAILED if any(one.status == "error" for one in checks) else 0)


def _show(one: Repair) -> None:
    state = "mended" if one.error is None else "failed"
    output.say(
        f"{state:<7}  {one.name:<22}  {one.detail}" + (f": {one.error}" if one.error else "")
    )
