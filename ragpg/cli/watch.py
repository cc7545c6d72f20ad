"""`ragpg watch`: namespaces that follow folders, until the command is stopped."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Unpack

import click

from ragpg.cli import clients, config_option, options, output
from ragpg.cli.ingest import file_json, line, totals
from ragpg.cli.signals import stopped_by_signals
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from ragpg.cli.options import Connection
    from ragpg.config.folders import Folder
    from ragpg.types import FileReport, IngestReport


@click.command()
@click.argument("folders", nargs=-1)
@click.option("-n", "--namespace", default="default", show_default=True, help="Of FOLDERS")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that match")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files that match")
@click.option(
    "--debounce",
    type=click.FloatRange(min=0.01),
    default=0.25,
    show_default=True,
    help="Seconds without a change before it is read",
)
@click.option(
    "--rescan",
    type=click.FloatRange(min=1),
    default=900.0,
    show_default=True,
    help="Seconds after which all of a folder is looked through",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only failures")
@options.connection
@options.json_lines
def watch(
    folders: tuple[str, ...],
    *,
    namespace: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    debounce: float,
    rescan: float,
    quiet: bool,
    as_json: bool,
    **connection: Unpack[Connection],
) -> None:
    """Bring namespaces up to date with FOLDERS, then follow every change of their files. Without
    FOLDERS those of the configuration are mirrored.

    Files are stored when they settle, and deleted or moved with their files. A lost database is
    waited for. Stops on SIGTERM or Ctrl-C after the files at hand, with exit code 0.

    \b
    ragpg watch docs/ -n handbook
    ragpg watch                       the folders of the configuration
    """
    from ragpg import watch as watching
    from ragpg.config.folders import HOW, Folder

    wanted = [Folder(path, namespace, include, exclude) for path in folders]
    config = config_option.configuration()
    if not wanted and config is not None:
        wanted = list(config.folder)
    if not wanted:
        raise click.UsageError(f"name a folder, or configure some. {HOW}")
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "watching needs the package watchfiles", hint="pip install 'ragpg[watch]'"
        ) from error
    stop = threading.Event()

    def told(folder: Folder, file: FileReport) -> None:
        if file.status == "failed" or not (quiet or file.status == "unchanged"):
            if as_json:
                output.print_json({"namespace": folder.namespace} | file_json(file))
            else:
                output.say(f"{_now()} {folder.namespace}: {line(file)}")

    def summed(folder: Folder, report: IngestReport) -> None:
        if not (quiet or as_json) and any(file.status != "unchanged" for file in report.files):
            output.say(f"{_now()} {totals(report)}")
        for remark in report.notes:
            output.note(remark)

    with stopped_by_signals(stop):
        with clients.connect(**connection) as rag:
            output.note(f"watching {', '.join(f'{one.path} -> {one.namespace}' for one in wanted)}")
            watching.watch(
                rag,
                wanted,
                stop=stop,
                debounce=debounce,
                rescan=rescan,
                on_file=told,
                on_report=summed,
                on_note=output.note,
            )
        output.note("stopped")


def _now() -> str:
    return time.strftime("%H:%M:%S")
