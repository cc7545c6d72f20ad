"""The one configuration file: what it may hold, what wins, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ragpg.cli.main import main
from ragpg.config.read import read_config
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

TOML = """
dsn = "postgresql://someone:secret@db.example.com/shop"
embedder = "hash"
[profile]
base = "fast"
parents = 2
[settings]
pool_size = 20
[namespaces.handbook]
language = "german"
[[folder]]
path = "docs"
namespace = "handbook"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ragpg.toml"
    path.write_text(TOML)
    return path


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(file: Path) -> None:
    found = read_config(file, {"RAGPG_POOL_SIZE": "30", "RAGPG_SCHEMA": "rag2"})
    assert (found.embedder, found.schema, found.settings.pool_size) == ("hash", "rag2", 30)
    assert (found.profile.parents, found.profile.rerankers) == (2, ())
    assert found.namespaces["handbook"].language == "german"
    assert found.folder[0].path == str(file.parent / "docs")
    assert found.settings.dsn == found.dsn
    origins = [found.origins[key] for key in ("dsn", "schema", "settings.pool_size")]
    assert origins == ["file", "environment", "environment"]
    assert found.origins["settings.budget"] == "default"
    assert read_config(file, {"RAGPG_PROFILE": "seed"}).profile.name == "seed"
    assert "secret" not in repr(found)


def test_yaml_and_json_say_the_same(file: Path, tmp_path: Path) -> None:
    import tomllib

    import yaml

    tables = tomllib.loads(TOML)
    (tmp_path / "a.json").write_text(json.dumps(tables))
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(tables))
    for name in ("a.json", "a.yaml"):
        found, expected = read_config(tmp_path / name, {}), read_config(file, {})
        assert (found.dsn, found.profile, found.settings, found.folder) == (
            expected.dsn, expected.profile, expected.settings, expected.folder,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('embeder = "hash"', "embedder"),
        ("[settings]\npoolsize = 3", "pool_size"),
        ("[settings]\npool_size = 1.5", "settings.pool_size must be a whole number"),
        ("[settings]\npool_size = -1", "greater than 0"),
        ("[profile]\nparent = 1", "parents"),
        ('profile = "mesured"', "measured"),
        ('[namespaces.a]\nlangage = "german"', "language"),
        ('[namespaces.a]\nkind = "other"', "knowledge or memory"),
        ("[[folder]]\nnamespace = 'a'", "path"),
        ("folder = 3", "folder"),
        ("dsn = 3", "dsn must be a text"),
        ("dsn = ", "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "ragpg.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_config(path, {})
    assert said in f"{refused.value} {refused.value.hint}"


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_config(environment={}).path is None
    (tmp_path / "ragpg.json").write_text('{"embedder": "none"}')
    assert read_config(environment={}).embedder == "none"


def test_the_command_shows_values_and_origins_and_no_password(file: Path) -> None:
    shown = CliRunner().invoke(main, ["config", "show", "--file", str(file), "--json"])
    values = json.loads(shown.output)
    assert values["settings.pool_size"] == {"value": 20, "from": "file"}
    assert "secret" not in shown.output
    assert CliRunner().invoke(main, ["config", "check", "--file", str(file)]).exit_code == 0
    file.write_text("embeder = 'x'")
    wrong = CliRunner().invoke(main, ["config", "check", "--file", str(file)])
    assert wrong.exit_code != 0
