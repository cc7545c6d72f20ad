"""`ragpg migrate`: install, upgrade, inspect and remove the schema."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ragpg.cli import clients, config_option, options, output
from ragpg.cli.groups import Group
from ragpg.sqlfiles import migrate_command

if TYPE_CHECKING:
    from ragpg.migrate import Status


SCHEMA = click.option(
    "--schema",
    envvar="RAGPG_SCHEMA",
    help="Schema of the tables [RAGPG_SCHEMA; default: ragpg]",
)


@click.group(cls=Group, invoke_without_command=True)
@config_option.config_file
@options.dsn_option
@SCHEMA
@click.option("--sql", is_flag=True, help="Print the SQL instead of running it, for psql")
@click.option(
    "--revision",
    default="head",
    show_default=True,
    help="Stop at this revision; with --sql also FROM:TO, from base otherwise",
)
@click.option("--status", is_flag=True, help="Only compare the database with this package")
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON")
@click.pass_context
def migrate(
    ctx: click.Context,
    *,
    dsn: str | None,
    schema: str | None,
    sql: bool,
    revision: str,
    status: bool,
    as_json: bool,
) -> None:
    """Bring the schema of a database to this package's version.

    Running it again changes nothing. Tables, functions and everything else live in one schema.

    \b
    ragpg migrate                             the whole of it
    ragpg migrate --status                    is it current? exit code 1 if not
    ragpg migrate --sql > ragpg.sql           for psql -v ON_ERROR_STOP=1 -f, Flyway, sqitch
    ragpg migrate --sql --revision 0001:head  the same, from an installed revision
    ragpg migrate downgrade --yes             remove everything
    """
    from ragpg import migrate as migration

    schema = "ragpg" if schema is None else schema
    ctx.obj = (dsn, schema)
    if ctx.invoked_subcommand:
        return
    if sql:
        start, _, goal = revision.rpartition(":")
        text = migration.script(
            schema, start=None if start in ("", "base") else start, revision=goal or "head"
        )
        click.echo(text, nl=False)
        return
    where = clients.database(dsn)
    before = migration.status(where, schema)
    if status:
        report(before, as_json=as_json)
        ctx.exit(0 if before.is_current else 1)
    migration.upgrade(where, revision, schema)
    after = migration.status(where, schema)
    if as_json:
        report(after, as_json=True)
    elif before.is_current:
        click.echo(f"Schema {schema} was current already, at {describe(after)}.")
    elif describe(before) == describe(after):
        click.echo(f"Schema {schema} stays at {describe(after)}; its functions are renewed.")
    else:
        click.echo(f"Schema {schema}: {describe(before)} -> {describe(after)}.")


@migrate.command()
@click.argument("revision", default="base")
@options.dsn_option
@SCHEMA
@click.option("--yes", is_flag=True, help="Do not ask")
@options.json_output
@click.pass_obj
def downgrade(
    before: tuple[str | None, str],
    *,
    revision: str,
    dsn: str | None,
    schema: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Go back to REVISION, by default to nothing: all documents of the schema are lost then.

    Extensions stay, and so does everything that is not ours.

    \b
    ragpg migrate downgrade 0010
    ragpg migrate downgrade --yes
    """
    from ragpg import migrate as migration

    # The options may stand before `downgrade` or after it. What stands here wins; the variable of
    # the environment, which click reads for both, must not win over what stands before.
    if (
        click.get_current_context().get_parameter_source("schema")
        is not ParameterSource.COMMANDLINE
    ):
        schema = before[1]
    schema = "ragpg" if schema is None else schema
    where = clients.database(dsn or before[0])
    now = migration.status(where, schema)
    loss = "removing all its documents" if revision == "base" else "losing what came after"
    if not yes:
        click.confirm(
            f"Take schema {schema} from {describe(now)} to {revision}, {loss}?",
            abort=True,
            err=True,
        )
    migration.downgrade(where, revision, schema)
    after = migration.status(where, schema)
    if as_json:
        report(after, as_json=True)
    else:
        click.echo(f"Schema {schema}: {describe(now)} -> {describe(after)}.")


def describe(status: Status) -> str:
    """Revision and version in words."""
    if status.revision is None:
        return "nothing"
    version = f", version {status.installed_version}" if status.installed_version else ""
    return f"revision {status.revision}{version}"


def report(status: Status, *, as_json: bool) -> None:
    """Print a status for people or for programs."""
    if as_json:
        values = dataclasses.asdict(status) | {"is_current": status.is_current}
        output.print_json(values)
        return
    click.echo(f"schema     {status.schema}")
    click.echo(f"installed  {describe(status)}")
    click.echo(f"package    revision {status.head}, version {status.package_version}")
    command = migrate_command(status.schema)
    if status.is_current:
        click.echo("current    yes")
    elif status.pending:
        output.say(f"current    no, pending: {', '.join(status.pending)}; run: {command}")
    elif status.revision == status.head:
        output.say(f"current    no, functions of another version; run: {command}")
    else:
        click.echo("current    no, migrated by a newer package: upgrade ragpg")
