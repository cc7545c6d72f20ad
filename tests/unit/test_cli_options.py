"""What all commands have in common: help with an example, exit codes, and the options they share."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from ragpg.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(
    command: click.Command = main, above: click.Context | None = None, name: str = "ragpg"
) -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names, groups too."""
    ctx = click.Context(command, info_name=name, parent=above)
    yield ctx.command_path.removeprefix("ragpg").strip(), command
    if isinstance(command, click.Group):
        for inner in command.list_commands(ctx):
            found = command.get_command(ctx, inner)
            assert found is not None
            yield from commands(found, ctx, inner)


COMMANDS = dict(commands())
LEAVES = {name: one for name, one in COMMANDS.items() if not isinstance(one, click.Group)}
#: psql prints what it likes, and an MCP server speaks its protocol.
WITHOUT_JSON = {"db psql", "mcp"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself_and_refuses_what_it_has_not(name: str) -> None:
    told = CliRunner().invoke(main, [*name.split(), "--help"])
    assert told.exit_code == 0
    if name == "db psql":
        # What is not ours is psql's.
        return
    refused = CliRunner().invoke(main, [*name.split(), "--nonsense"])
    assert (refused.exit_code, "No such option" in refused.output) == (2, True), refused.output


@pytest.mark.parametrize("name", LEAVES)
def test_a_command_has_an_example_and_the_options_that_all_have(name: str) -> None:
    command = LEAVES[name]
    assert f"ragpg {name}".rstrip() in (command.help or "")
    options = [one for one in command.params if isinstance(one, click.Option)]
    names = {text for one in options for text in one.opts}
    assert [one.name for one in options if not one.help] == []
    assert "--json" in names or name in WITHOUT_JSON
    # `init` writes the name of an embedder into a file, and connects to nothing.
    if "--embedder" in names and name != "init":
        assert {"--dsn", "--schema", "--config"} <= names
    flat = [text for one in options for text in (*one.opts, *one.secondary_opts)]
    assert len(flat) == len(set(flat)), "an option is there twice"


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - LEAVES.keys()))
def test_a_group_lists_its_commands_in_whole_sentences_and_has_an_example(name: str) -> None:
    told = CliRunner().invoke(main, [*name.split(), "--help"], prog_name="ragpg").output
    listed = told[told.index("Commands:") :]
    assert "..." not in listed
    assert f"  ragpg {name}".rstrip() in told[: told.index("Options:")]


@pytest.mark.parametrize("name", LEAVES)
def test_options_of_one_name_are_written_alike(name: str) -> None:
    known = {text: one for one in LEAVES[name].params for text in one.opts}
    for short, long in (("-k", "--k"), ("-n", "--namespace")):
        assert (short in known) == (long in known)


@pytest.mark.parametrize("command", ["usage", "sentences", "reembed"])
def test_a_namespace_that_is_an_argument_may_be_an_option_too(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        LEAVES[command], "callback", lambda *_, namespace, **rest: asked.append(namespace)
    )
    runner = CliRunner()
    for arguments in (["handbook"], ["-n", "handbook"], ["--namespace", "handbook"]):
        assert runner.invoke(main, [command, *arguments]).exit_code == 0
    twice = runner.invoke(main, [command, "one", "-n", "other"])
    assert (twice.exit_code, "given already" in twice.stderr) == (2, True)
    none = runner.invoke(main, [command])
    assert none.exit_code == (0 if command == "usage" else 2)
    assert asked == ["handbook"] * 3 + ([None] if command == "usage" else [])


def test_warnings_are_notes_and_stages_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    from ragpg.cli.main import _Notes

    log = logging.getLogger("ragpg.test_warnings")
    handler = _Notes(logging.WARNING)
    log.addHandler(handler)
    log.propagate = False
    try:
        log.warning("query shortened to %d tokens", 512)
        log.warning("search failed", extra={"event": "search"})
    finally:
        log.removeHandler(handler)
    assert capsys.readouterr().err == "note: query shortened to 512 tokens\n"


def test_the_page_has_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    table = page[: page.index("## Which database")]
    for name, command in COMMANDS.items():
        if " " in name or not name:
            continue
        [row] = [line for line in table.splitlines() if f"`ragpg {name}" in line][:1] or [""]
        assert row, f"docs/cli.md says nothing of ragpg {name}"
        inner = list(command.commands) if isinstance(command, click.Group) else []
        rows = "".join(line for line in table.splitlines() if f"`ragpg {name}" in line)
        missing = [one for one in inner if one not in rows]
        assert not missing, f"docs/cli.md says nothing of ragpg {name} {missing}"
