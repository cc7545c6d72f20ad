"""`ragpg db`: a private PostgreSQL in a folder of the project."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack

import click

from ragpg import localdb
from ragpg.cli.groups import Group
from ragpg.errors import LocalDatabaseError

Command = TypeVar("Command", bound=Callable[..., Any])


class Where(TypedDict):
    """The options that every command has."""

    home: str | None
    suite: str | None
    user: str | None
    provider: str | None


class DatabaseGroup(Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LocalDatabaseError as error:
            raise click.ClickException(str(error)) from error


def where(command: Command) -> Command:
    """Add the options of `Where`."""
    for option in [
        click.option("--provider", help="debian or embedded [RAGPG_DB_PROVIDER]"),
        click.option("--user", help="Run the server as this user, for root [RAGPG_DB_USER]"),
        click.option("--suite", help="forky (PostgreSQL 18) or trixie (17) [RAGPG_DB_SUITE]"),
        click.option("--home", help="Folder to use [RAGPG_DB_HOME; default: .ragpg]"),
    ]:
        command = option(command)
    return command


@click.group(cls=DatabaseGroup)
def db() -> None:
    """A private PostgreSQL with pgvector and AGE, in a folder of this project.

    \b
    ragpg db up
    ragpg db psql -c "select * from ragpg.namespaces"
    ragpg db stop
    """


@db.command()
@where
@click.option("--port", type=int, help="Listen on 127.0.0.1 too; 0: socket only [RAGPG_DB_PORT]")
@click.option(
    "--throwaway/--durable",
    default=None,
    help="Never wait for the disk, for tests; default durable [RAGPG_DB_THROWAWAY]",
)
@click.option("--programs", help="Folder of the unpacked programs [RAGPG_DB_PROGRAMS]")
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON")
def up(
    port: int | None,
    throwaway: bool | None,
    programs: str | None,
    as_json: bool,
    **options: Unpack[Where],
) -> None:
    """Install, initialise and start the server as needed; print its DSN.

    \b
    ragpg db up
    export RAGPG_DSN=$(ragpg db up)
    """
    _report_progress()
    dsn = localdb.up(port=port, throwaway=throwaway, programs=programs, **options)
    if as_json:
        _print_json(localdb.status(**options))
    else:
        click.echo(dsn)


@db.command()
@where
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON")
def stop(as_json: bool, **options: Unpack[Where]) -> None:
    """Stop the server; the data stays.

    \b
    ragpg db stop
    """
    localdb.stop(**options)
    if as_json:
        _print_json(localdb.status(**options))


@db.command()
@where
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON")
@click.pass_context
def status(context: click.Context, as_json: bool, **options: Unpack[Where]) -> None:
    """Tell whether the server runs; the exit code is 3 if it does not.

    \b
    ragpg db status --json
    """
    found = localdb.status(**options)
    if as_json:
        _print_json(found)
    else:
        state = "running" if found.running else "stopped" if found.version else "absent"
        version = f"PostgreSQL {found.version}  " if found.version else ""
        kind = "throwaway" if found.throwaway else "durable"
        click.echo(f"{state}  {version}{found.name}  {kind}  {found.data}")
    context.exit(0 if found.running else 3)


@db.command()
@where
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON")
def dsn(as_json: bool, **options: Unpack[Where]) -> None:
    """Print the DSN of the server, whether it runs or not.

    \b
    ragpg ingest docs/ --dsn "$(ragpg db dsn)"
    """
    if as_json:
        _print_json(localdb.status(**options))
    else:
        click.echo(localdb.dsn(**options))


@db.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@where
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def psql(arguments: tuple[str, ...], **options: Unpack[Where]) -> None:
    """Run psql on the database; ARGUMENTS are psql's own.

    \b
    ragpg db psql -c "select name, chunks from ragpg.namespaces"
    """
    command, environment = localdb.psql_command(*arguments, **options)
    if not localdb.status(**options).running:
        click.echo("note: the server does not run; start it with: ragpg db up", err=True)
    os.execve(command[0], command, environment)


@db.command()
@where
@click.option("--yes", is_flag=True, help="Confirm that the data is to be deleted")
@click.option("--all", "delete_programs", is_flag=True, help="Delete the programs too")
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON")
def destroy(yes: bool, delete_programs: bool, as_json: bool, **options: Unpack[Where]) -> None:
    """Stop the server and delete its data.

    \b
    ragpg db destroy --yes
    """
    if not yes:
        data = localdb.status(**options).data
        raise click.UsageError(f"this deletes all data in {data}: repeat it with --yes")
    localdb.destroy(delete_programs=delete_programs, **options)
    if as_json:
        _print_json(localdb.status(**options))


def _print_json(found: localdb.Status) -> None:
    click.echo(json.dumps(dataclasses.asdict(found), default=str))


def _report_progress() -> None:
    """Show on standard error what takes time, while standard output has the DSN alone."""
    log = logging.getLogger("ragpg.localdb")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("ragpg: %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


if __name__ == "__main__":
    db()
