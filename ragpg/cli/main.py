"""`ragpg`: the commands, loaded when they are asked for, and the one place where errors end."""

from __future__ import annotations

import importlib
import logging
import sys
from typing import Any

import click

from ragpg import __version__
from ragpg.cli import config_option, failures, output
from ragpg.cli.groups import Group

#: Name of a command -> module and attribute that hold it, in the order of the help.
COMMANDS = {
    "init": "ragpg.cli.init:init",
    "db": "ragpg.cli.db:db",
    "migrate": "ragpg.cli.migrate:migrate",
    "ingest": "ragpg.cli.ingest:ingest",
    "watch": "ragpg.cli.watch:watch",
    "worker": "ragpg.cli.worker:worker",
    "jobs": "ragpg.cli.jobs:jobs",
    "search": "ragpg.cli.search:search",
    "ask": "ragpg.cli.ask:ask",
    "ground": "ragpg.cli.ground:ground",
    "inspect": "ragpg.cli.inspection:inspect",
    "sentences": "ragpg.cli.sentences:sentences",
    "reembed": "ragpg.cli.reembed:reembed",
    "index": "ragpg.cli.index:index",
    "graph": "ragpg.cli.graph:graph",
    "namespaces": "ragpg.cli.namespaces:namespaces",
    "memory": "ragpg.cli.memory:memory",
    "feedback": "ragpg.cli.feedback:feedback",
    "usage": "ragpg.cli.usage:usage",
    "eval": "ragpg.cli.evaluate:evaluate",
    "eval-grounding": "ragpg.cli.evaluate_grounding:evaluate_grounding",
    "bench": "ragpg.cli.bench:bench",
    "mcp": "ragpg.cli.mcp:mcp",
    "config": "ragpg.cli.config:config",
    "doctor": "ragpg.cli.doctor:doctor",
}


class LazyGroup(Group):
    """A group that imports a command's module when the command is used or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order in which somebody meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever goes wrong becomes a message and an exit code."""
        with failures.reported():
            return super().invoke(ctx)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ragpg")
@config_option.config_before
def main() -> None:
    """Retrieval-augmented generation where Postgres is the engine.

    \b
    ragpg init                        a commented ragpg.toml, if you like one
    ragpg db up                       a private PostgreSQL, where there is none (or set RAGPG_DSN)
    ragpg migrate                     install the schema
    ragpg ingest docs/                read, cut, embed and store
    ragpg search "how do refunds work?"

    Exit codes: 0 done, 1 failed or done in part, 2 wrong use, 3 database or model service
    unavailable, 130 and 143 interrupted.
    """
    # The pool tells of lost connections, and so does the error that ends the command.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    _tell_warnings()
    _say_once()
    for stream in (sys.stdout, sys.stderr):
        # A file name that is no text, or a narrow terminal, must not end a run.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _say_once() -> None:
    """Warnings of the library go to the terminal, but for events of calls: what those degraded, the
    commands print themselves."""
    log = logging.getLogger("ragpg")
    if not log.hasHandlers() and logging.lastResort is not None:
        handler = logging.StreamHandler()
        handler.setLevel(logging.WARNING)
        handler.addFilter(lambda record: not hasattr(record, "event"))
        log.addHandler(handler)


class _Notes(logging.Handler):
    """Warnings of the package as notes; how a stage ended is told by the command itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning on standard error."""
        if not hasattr(record, "event"):
            output.note(record.getMessage())


def _tell_warnings() -> None:
    log = logging.getLogger("ragpg")
    if not log.hasHandlers():
        log.addHandler(_Notes(logging.WARNING))


if __name__ == "__main__":
    main()
