"""The options that commands share: which database, which models, which output."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click

from ragpg.cli.config_option import config_file
from ragpg.providers.named import EMBEDDERS

Command = TypeVar("Command", bound=Callable[..., Any])


class Connection(TypedDict):
    """The options of `connection`."""

    dsn: str | None
    schema: str
    embedder: str | None


def connection(command: Command) -> Command:
    """Add the options of `Connection`, and --config."""
    return _connection(command, hides_embedder=False)


def address(command: Command) -> Command:
    """The same for a command that embeds nothing: --embedder is taken, as by all, and not shown."""
    return _connection(command, hides_embedder=True)


def _connection(command: Command, *, hides_embedder: bool) -> Command:
    for option in (
        config_file,
        click.option(
            "--embedder",
            envvar="RAGPG_EMBEDDER",
            hidden=hides_embedder,
            help=f"{EMBEDDERS} [RAGPG_EMBEDDER; default: local if installed, else none]",
        ),
        schema_option,
        dsn_option,
    ):
        command = option(command)
    return command


def namespace_argument(*, required: bool) -> Callable[[Command], Command]:
    """Add NAMESPACE, which -n may name instead, as everywhere else."""

    def merge(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value is not None and ctx.params.get("namespace") is not None:
            raise click.BadParameter("NAMESPACE is given already", ctx, param)
        ctx.params["namespace"] = value or ctx.params.get("namespace")
        if required and ctx.params["namespace"] is None:
            raise click.UsageError("Missing argument 'NAMESPACE'.", ctx)

    def add(command: Command) -> Command:
        option = click.option(
            "-n",
            "--namespace",
            "named",
            callback=merge,
            expose_value=False,
            help="The same as NAMESPACE",
        )
        # Eager, so that it is there when the option is looked at.
        return click.argument("namespace", required=False, is_eager=True)(option(command))

    return add


def dsn_option(command: Command) -> Command:
    """Add --dsn."""
    return click.option("--dsn", help="Database [RAGPG_DSN; default: the server of `ragpg db up`]")(
        command
    )


def schema_option(command: Command) -> Command:
    """Add --schema."""
    return click.option(
        "--schema", envvar="RAGPG_SCHEMA", default="ragpg", show_default=True,
        help="Schema of the tables [RAGPG_SCHEMA]",
    )(command)  # fmt: skip


def json_output(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON")(command)


def json_lines(command: Command) -> Command:
    """Add --json to a command that goes on: one object a line, as things happen."""
    return click.option("--json", "as_json", is_flag=True, help="Print a line of JSON per file")(
        command
    )


def profile(command: Command) -> Command:
    """Add --profile."""
    return click.option(
        "--profile",
        help="Which stages run: measured, seed, fast or the path of a file "
        "[RAGPG_PROFILE; default: measured]",
    )(command)


def language(command: Command) -> Command:
    """Add --language."""
    return click.option(
        "--language",
        help="Text search configuration of a new namespace (\\dF) [default: as configured, else "
        "english]",
    )(command)


def namespaces_to_search(command: Command) -> Command:
    """Add -n/--namespace, which may be given more than once."""
    return click.option(
        "-n",
        "--namespace",
        multiple=True,
        default=("default",),
        show_default=True,
        help="Namespace to search; repeat it for several",
    )(command)


def filter_option(command: Command) -> Command:
    """Add --filter."""
    return click.option(
        "--filter",
        "filter_",
        callback=json_object,
        metavar="JSON",
        help='Metadata conditions, as {"year": {"gte": 2023}}',
    )(command)


def ranking(command: Command) -> Command:
    """Add --arms and --rerank/--no-rerank."""
    command = click.option(
        "--rerank/--no-rerank", default=True, show_default=True, help="Reorder by features"
    )(command)
    return click.option(
        "--arms", callback=arms, help="keyword,vector or JSON options; default: all"
    )(command)


def json_object(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> dict[str, Any] | None:
    """Callback of an option that takes a JSON object; anything else is a usage error."""
    if value is None:
        return None
    parsed = _json(value, ctx, param)
    if not isinstance(parsed, dict):
        raise click.BadParameter('a JSON object is needed, as {"year": 2024}', ctx, param)
    return parsed


def arms(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> dict[str, Any] | list[str] | None:
    """Callback of --arms: names by commas, else a JSON object of options or a JSON list."""
    if value is None:
        return None
    if value.lstrip()[:1] not in ("{", "["):
        return [name.strip() for name in value.split(",") if name.strip()]
    parsed: dict[str, Any] | list[str] = _json(value, ctx, param)
    return parsed


def _json(value: str, ctx: click.Context, param: click.Parameter) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", ctx, param) from error
