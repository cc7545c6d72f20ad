"""`ragpg config`: what is configured, where it comes from, and whether it is right."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from ragpg.cli import options, output
from ragpg.cli.failures import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.config.values import Config


@click.group()
def config() -> None:
    """One file for connection, profile, limits, namespaces and folders."""


def _file(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--file",
        "path",
        type=click.Path(dir_okay=False),
        help="TOML, YAML or JSON [RAGPG_CONFIG; default: ragpg.toml, .yaml or .json here, if any]",
    )(command)


@config.command()
@_file
@options.json_output
def show(path: str | None, *, as_json: bool) -> None:
    """Print every value and where it comes from: default, file or environment.

    \b
    ragpg config show --file ragpg.toml
    """
    from ragpg.config.read import read_config

    found = read_config(path)
    rows = list(shown(found))
    if as_json:
        output.print_json({name: {"value": value, "from": origin} for name, value, origin in rows})
        return
    click.echo(f"file: {found.path or 'none'}")
    click.echo(output.table(("key", "value", "from"), rows))


@config.command()
@_file
def check(path: str | None) -> None:
    """Read the file and the environment; fails, naming the place, where something is wrong."""
    from ragpg.config.read import read_config

    found = read_config(path)
    click.echo(f"OK {found.path}" if found.path else "OK, no file: environment and defaults")


def shown(found: Config) -> list[tuple[str, Any, str]]:
    """Key, value and origin, for people: without the secrets of the address."""
    rows: list[tuple[str, Any, str]] = []
    for name in ("dsn", "schema", "embedder"):
        value = getattr(found, name)
        rows.append((name, without_secrets(value) if value else None, found.origins[name]))
    for one in fields(found.profile):
        value = getattr(found.profile, one.name)
        rows.append((f"profile.{one.name}", value, found.origins["profile"]))
    for one in fields(found.settings):
        if one.name != "dsn":
            key = f"settings.{one.name}"
            rows.append((key, getattr(found.settings, one.name), found.origins[key]))
    rows += [(f"namespaces.{name}", asdict(one), "file") for name, one in found.namespaces.items()]
    rows += [(f"folder.{one.path}", one.namespace, "file") for one in found.folder]
    return rows
