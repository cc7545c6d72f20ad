"""`ragpg init`: a configuration to start from, and what to do next."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ragpg.cli import options, output
from ragpg.providers.named import EMBEDDERS
from ragpg.terminal import shell_argument, shell_word, visible


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of FOLDER")
@click.option("--embedder", help=f"Model of the vectors: {EMBEDDERS}")
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False),
    default="ragpg.toml",
    show_default=True,
    help="The file to write",
)
@options.json_output
def init(
    *, folder: str | None, namespace: str, embedder: str | None, path: str, as_json: bool
) -> None:
    """Write a commented configuration file to start from, and say the next three commands.

    FOLDER is entered as what `ragpg watch` mirrors. A file that is there is never overwritten, nor
    is one written beside another that would be read.

    \b
    ragpg init
    ragpg init docs/ -n handbook --embedder local
    """
    from ragpg.config.read import NAMES, find
    from ragpg.config.starting import starting_config
    from ragpg.errors import ConfigError
    from ragpg.providers.named import embedder_named

    if embedder is not None:
        embedder_named(embedder)
    place = Path(path)
    for name in (place.name, *(NAMES if place.name in NAMES else ())):
        if os.path.lexists(place.parent / name):
            raise ConfigError(
                f"{visible(str(place.parent / name))} is there already, and is left as it is",
                hint="Look at it with: ragpg config show",
            )
    above = find() if place.name in NAMES else None
    target = None
    if folder is not None:
        # Relative paths of a configuration count from its file.
        target = os.path.relpath(folder, place.parent) if not os.path.isabs(folder) else folder
    text = starting_config(folder=target, namespace=namespace, embedder=embedder)
    try:
        with open(place, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"{visible(path)} cannot be written: {error.strerror}") from error
    following = _next(folder, namespace, place)
    if as_json:
        output.print_json({"file": path, "next": following, "above": above})
        return
    output.say(f"Wrote {visible(path)}. Next:")
    for command in following:
        output.say(f"  {command}")
    if above is not None:
        output.note(f"{above} is not read here any more")


def _next(folder: str | None, namespace: str, place: Path) -> list[str]:
    """Three commands that lead to a first search."""
    found_by_itself = place == Path("ragpg.toml")
    options = "" if namespace == "default" else f" -n {shell_word(namespace)}"
    config = "" if found_by_itself else f" --config {shell_word(str(place))}"
    commands = [
        *([] if os.environ.get("RAGPG_DSN") else ["ragpg db up"]),
        f"ragpg migrate{config}",
        f"ragpg ingest{options}{config} {shell_argument(folder or 'docs/')}",
        f'ragpg search{options}{config} "how do refunds work?"',
    ]
    return commands[:3]
