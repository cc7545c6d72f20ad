"""The options that commands share: which database, which models, which output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click
from click.core import ParameterSource

from ragpg.cli import output
from ragpg.cli.configured import defaults_of
from ragpg.cli.failures import keep_secret
from ragpg.connection_address import read_dsn
from ragpg.errors import LocalDatabaseError
from ragpg.providers.named import EMBEDDERS

if TYPE_CHECKING:
    from ragpg.client import Client
    from ragpg.config.values import Config
    from ragpg.protocols import Embedder, Generator
    from ragpg.query.profile import Profile
    from ragpg.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

#: Where a context keeps the configuration, for the commands below it too.
_META, _FILE = "ragpg.configuration", "ragpg.configuration file"


class Connection(TypedDict):
    """The options of `connection`."""

    dsn: str | None
    schema: str
    embedder: str | None


def config_file(command: Command) -> Command:
    """Add --config: the file is read before the other options, and says what they do not."""
    return click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_configure,
        help="Configuration file [RAGPG_CONFIG; default: ragpg.toml here or in a folder above]",
    )(command)


def config_before(command: Command) -> Command:
    """Add --config to the group of all commands: it is read by the command that follows."""
    return click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=lambda ctx, _, value: ctx.meta.update({_FILE: value} if value else {}),
        help="Configuration file, of any command",
    )(command)


def config_path(command: Command) -> Command:
    """Add --config to a command that reads the file itself; what stood before it counts too."""
    return click.option(
        "--config",
        "--file",
        "path",
        metavar="FILE",
        callback=lambda ctx, _, value: value or ctx.meta.get(_FILE),
        help="TOML, YAML or JSON [RAGPG_CONFIG; default: ragpg.toml here or in a folder above]",
    )(command)


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


def _configure(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Callback of --config: the command's own, else what stood before the command."""
    from ragpg.config.read import read_config

    config = ctx.meta[_META] = read_config(value or ctx.meta.get(_FILE))
    keep_secret(config.dsn)
    ctx.default_map = defaults_of(config, ctx.command_path.split()[1:])


def configuration() -> Config | None:
    """The configuration of the running command; None where it takes none."""
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_META)


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


def judge(command: Command) -> Command:
    """Add --judge, and --generator for the judge that is one."""
    for option in (
        click.option(
            "--generator",
            envvar="RAGPG_GENERATOR",
            help="Chat model: openai or openai:MODEL [RAGPG_GENERATOR]",
        ),
        click.option(
            "--judge",
            help="Who checks claims: lexical, embedding, llm or the folder of an entailment model "
            "[default: lexical, or what the profile says]",
        ),
    ):
        command = option(command)
    return command


def about_unsupported(command: Command) -> Command:
    """Add --gate and --unsupported."""
    for option in (
        click.option(
            "--unsupported",
            type=click.Choice(["keep", "mark", "drop", "repair"]),
            help="What becomes of claims without support [default: keep, or what the profile says]",
        ),
        click.option(
            "--gate",
            type=click.FloatRange(0, 1),
            help="Give no answer of lower confidence [default: give any, or as the profile says]",
        ),
    ):
        command = option(command)
    return command


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


def connect(
    dsn: str | None,
    schema: str,
    embedder: str | None,
    *,
    generator: Generator | None = None,
    needs_embedder: bool = True,
    profile: str | None = None,
) -> Client:
    """A client for the options, as a context manager."""
    model = make_embedder(embedder) if needs_embedder else None
    return open_client(dsn, schema, model, generator=generator, profile=profile)


def open_client(
    dsn: str | None,
    schema: str,
    embedder: Embedder | None,
    *,
    generator: Generator | None = None,
    profile: str | None = None,
    settings: Settings | None = None,
) -> Client:
    """A client for an embedder that is there already."""
    import ragpg

    return ragpg.connect(
        database(dsn),
        schema=schema,
        embedder=embedder,
        generator=generator,
        profile=profile,
        settings=settings,
        config=modelless(),
    )


def settings() -> Settings:
    """The settings of a client that `open_client` makes."""
    from ragpg.settings import Settings

    config = configuration()
    return Settings.from_env() if config is None else config.settings


def chosen_profile(profile: str | None) -> Profile:
    """The profile of --profile, else of the configuration."""
    from ragpg.query.profile import read_profile

    config = configuration()
    return read_profile(profile) if profile or config is None else config.profile


def modelless() -> Config | None:
    """The configuration for a client whose models are the options'."""
    from ragpg.config.use import without_models

    config = configuration()
    return None if config is None else without_models(config)


def database(dsn: str | None) -> str:
    """The DSN that was given, else RAGPG_DSN, else the running local server.

    On a terminal it offers to start one. Raises ConfigError when there is none.
    """
    given = dsn or os.environ.get("RAGPG_DSN")
    if given:
        # Its message quotes no part of the address; libpq's would quote the password.
        read_dsn(given)
        return given
    from ragpg import localdb

    try:
        found = localdb.status()
    except LocalDatabaseError:
        found = None
    if found is not None and found.running and found.dsn:
        return found.dsn
    if sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(
            "No database is set and no local one runs. Start a private PostgreSQL (ragpg db up)?",
            default=True,
            abort=True,
            err=True,
        )
        return localdb.up()
    raise LocalDatabaseError(
        "no database: none was given and no local one runs",
        hint="Pass --dsn, set RAGPG_DSN, or start a private server: ragpg db up",
    )


def make_embedder(spec: str | None) -> Embedder | None:
    """The embedder that a specification names; see EMBEDDERS. None is the default: `local` where
    its packages are installed, else no embedder and a note."""
    from ragpg.config.use import embedder_of, with_one_embedder
    from ragpg.config.values import Config
    from ragpg.providers.named import local_installed

    if not spec and not local_installed():
        output.note(
            "no embedder: keyword, metadata and graph search only; "
            "pip install 'ragpg[local]', or choose one with --embedder"
        )
        return None
    config = configuration() or Config()
    ctx = click.get_current_context(silent=True)
    source = None if ctx is None else ctx.get_parameter_source("embedder")
    if source is ParameterSource.COMMANDLINE:
        # What is said for this command wins over what namespaces have.
        config = with_one_embedder(config)
    return embedder_of(replace(config, embedder=spec or "local"))


def make_generator(spec: str | None) -> Generator:
    """The chat model that `openai` or `openai:MODEL` names; without a name the default one."""
    from ragpg.config.use import generator_of
    from ragpg.config.values import Config

    found = generator_of(replace(configuration() or Config(), generator=spec or "openai"))
    assert found is not None
    return found
