"""The client, the models and the profile that the options of a command ask for."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ragpg.cli import output
from ragpg.cli.config_option import configuration
from ragpg.cli.judge_options import with_bars
from ragpg.connection_address import read_dsn
from ragpg.errors import LocalDatabaseError

if TYPE_CHECKING:
    from ragpg.client import Client
    from ragpg.config.values import Config
    from ragpg.protocols import Embedder, Generator
    from ragpg.query.profile import Profile
    from ragpg.settings import Settings


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
    return None if config is None else without_models(_barred(config))


def _barred(config: Config) -> Config:
    """The configuration with the bars that the options give to the judge of the command."""
    asked = click.get_current_context().params
    if "judge" not in asked:
        return config
    return with_bars(config, asked["judge"] or chosen_profile(asked.get("profile")).judge)


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
