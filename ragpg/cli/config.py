"""`ragpg config`: what is configured, where it comes from, and whether it is right."""

from __future__ import annotations

import os
import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import click

from ragpg.cli import config_option, options, output
from ragpg.cli.failures import USAGE, without_secrets
from ragpg.cli.groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragpg.config.values import Config


@click.group(cls=Group)
def config() -> None:
    """One file for connection, models, profile, limits, ingest, folders, tools and the rest.

    \b
    ragpg init            writes one to start from
    ragpg config show
    ragpg config check
    """


@config.command()
@config_option.config_path
@options.json_output
def show(path: str | None, *, as_json: bool) -> None:
    """Print every value and where it comes from: default, file, environment or the profile that
    the file or RAGPG_PROFILE names.

    \b
    ragpg config show
    ragpg config show --config other.yaml --json
    """
    from ragpg.config.read import read_config

    found = read_config(path)
    rows = list(shown(found))
    if as_json:
        output.print_json({name: {"value": value, "from": origin} for name, value, origin in rows})
        return
    output.say(f"file: {found.path or 'none'}")
    click.echo(output.table(("key", "value", "from"), rows))


@config.command()
@config_option.config_path
@options.json_output
@click.pass_context
def check(ctx: click.Context, path: str | None, *, as_json: bool) -> None:
    """Read the file and the environment; exit code 2, naming the place, where something is wrong.

    Names of models, rerankers, chunkers and profiles must stand for something, and folders must be
    there. Nothing is connected to, and no model is loaded. A note names variables RAGPG_... that
    set nothing.

    \b
    ragpg config check && ragpg worker
    """
    from ragpg.config.check import problems_of
    from ragpg.config.nearest import stray_variables
    from ragpg.config.read import read_config
    from ragpg.errors import ConfigError

    try:
        found = read_config(path)
        problems = problems_of(found)
    except ConfigError as error:
        if not as_json:
            raise
        found, problems = None, [str(error)]
    problems = [without_secrets(one) for one in problems]
    notes = stray_variables(os.environ)
    if as_json:
        place = found.path if found else path
        output.print_json({"ok": not problems, "file": place, "problems": problems, "notes": notes})
        ctx.exit(USAGE if problems else 0)
    for one in notes:
        output.note(one)
    for one in problems:
        output.say(f"Error: {one}", err=True)
    if not problems and found is not None:
        click.echo(f"OK {found.path}" if found.path else "OK, no file: environment and defaults")
    ctx.exit(USAGE if problems else 0)


def shown(found: Config) -> Iterator[tuple[str, Any, str]]:
    """Key, value and origin, for people: without passwords and keys."""
    from ragpg.config.values import ELSEWHERE, KEYS

    for name in KEYS:
        value = getattr(found, name)
        origin = found.origins.get(name, "default")
        if is_dataclass(value):
            for one in fields(value):
                if one.name in ELSEWHERE.get(name, ()):
                    continue
                key = f"{name}.{one.name}"
                inside: Any = getattr(value, one.name)
                yield key, _masked(one.name, inside), found.origins.get(key, origin)
        elif name == "namespaces":
            for called, one in value.items():
                yield f"namespaces.{called}", f"{one.kind}, {found.language_of(called)}", "file"
                for key in ("embedder", "chunker", "fusion"):
                    if (inside := getattr(one, key)) is not None:
                        yield f"namespaces.{called}.{key}", inside, "file"
        elif name == "folder":
            for one in value:
                yield f"folder.{one.path}", one.namespace, "file"
                if one.chunker is not None:
                    yield f"folder.{one.path}.chunker", one.chunker, "file"
        else:
            shown_value = _address(value) if name == "dsn" and value else value
            yield name, without_secrets(shown_value) if shown_value else None, origin


def _address(dsn: str) -> str:
    """An address with *** for its passwords, in libpq's list of pairs or behind the ? of a URL."""
    return re.sub(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", r"\1***", dsn)


def _masked(name: str, value: Any) -> Any:
    if value is not None and name.endswith(("api_key", "token", "secret", "password")):
        return "***"
    if isinstance(value, tuple):
        return list(value)
    return without_secrets(value) if isinstance(value, str) else value
