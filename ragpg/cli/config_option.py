"""--config: which file a command goes by, and what stands in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragpg.cli.configured import defaults_of
from ragpg.cli.failures import keep_secret

if TYPE_CHECKING:
    from ragpg.config.values import Config

Command = TypeVar("Command", bound=Callable[..., Any])

#: Where a context keeps the configuration, for the commands below it too.
_META, _FILE = "ragpg.configuration", "ragpg.configuration file"


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
