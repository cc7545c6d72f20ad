"""`ragpg init` writes a file that can be read, and none over another."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from ragpg.cli.main import main
from ragpg.config.read import read_config
from ragpg.config.values import Config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "docs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")


def init(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["init", *arguments], prog_name="ragpg")


def test_the_file_changes_nothing_until_somebody_does(tmp_path: Path) -> None:
    result = init()
    assert result.exit_code == 0, result.output
    (tmp_path / "empty.toml").write_text("")
    found, empty = read_config("ragpg.toml"), read_config(tmp_path / "empty.toml")
    assert {key for key, origin in found.origins.items() if origin == "file"} == set()
    assert replace(found, path=None) == replace(empty, path=None)


def test_every_line_of_it_is_right(tmp_path: Path) -> None:
    init()
    text = (tmp_path / "project" / "ragpg.toml").read_text("utf-8")
    every = re.sub(r"^# (?=\w+ = |\[)", "", text, flags=re.M)
    assert every.count(" = ") > text.count("\n[") + 12
    (tmp_path / "project" / "every.toml").write_text(every)
    found = read_config("every.toml")
    assert [one.namespace for one in found.folder] == ["handbook"]
    assert found.settings.vector_retention == 7
    assert found.profile.parents == 1
    # Most defaults are shown as they are.
    assert found.ingest.chunker == Config().ingest.chunker


def test_folder_namespace_and_embedder_are_entered_and_the_next_commands_said() -> None:
    result = init("docs", "-n", "hand book", "--embedder", "hash:16")
    assert result.exit_code == 0, result.output
    found = read_config("ragpg.toml")
    assert found.embedder == "hash:16"
    [folder] = found.folder
    assert (folder.path, folder.namespace) == ("docs", "hand book")
    commands = [line.strip() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert commands == ["ragpg db up", "ragpg migrate", "ragpg ingest -n 'hand book' docs"]


def test_paths_count_from_the_file_and_commands_name_it() -> None:
    result = init("docs", "-o", "docs/my.toml", "--json")
    found = json.loads(result.stdout)
    assert found["file"] == "docs/my.toml"
    assert all("--config docs/my.toml" in command for command in found["next"][1:])
    [folder] = read_config("docs/my.toml").folder
    assert folder.path == "docs"


def test_with_an_address_no_server_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGPG_DSN", "postgresql:///mine")
    commands = json.loads(init("--json").stdout)["next"]
    assert [shlex.split(one)[1] for one in commands] == ["migrate", "ingest", "search"]


@pytest.mark.parametrize("there", ["ragpg.toml", "ragpg.yaml", "ragpg.json"])
def test_nothing_is_overwritten_or_put_beside(tmp_path: Path, there: str) -> None:
    place = tmp_path / "project" / there
    place.symlink_to("nowhere") if there == "ragpg.json" else place.write_text("# mine\n")
    result = init()
    assert result.exit_code == 2
    assert f"{there} is there already" in result.stderr
    assert not (tmp_path / "project" / "nowhere").exists()
    if not place.is_symlink():
        assert place.read_text() == "# mine\n"
    # Another name is nobody's business, whatever is broken elsewhere.
    assert init("-o", "other.toml").exit_code == 0


def test_the_file_above_is_named_that_counts_no_more(tmp_path: Path) -> None:
    (tmp_path / "ragpg.toml").write_text('schema = "other"\n')
    result = init()
    assert result.exit_code == 0
    assert "ragpg.toml is not read here any more" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere"], "does not exist"), (["--embedder", "gpt"], "gpt"),
     (["-o", "absent/ragpg.toml"], "cannot be written")],
)  # fmt: skip
def test_what_cannot_be_is_said_and_nothing_written(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = init(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "project" / "ragpg.toml").exists()
