"""The configuration file as it is found and read: doubled keys, hints, origins, passwords."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ragpg.cli.main import main
from ragpg.config.read import read_config
from ragpg.errors import ConfigError
from ragpg.query.profile import read_profile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", "settings:\n  pool_size: 3\nworker: {}\nsettings: {}", 4),
        ("a.yaml", "settings:\n  pool_size: 3\n  'pool_size': secret", 3),
        ("a.json", '{"worker": {"threads": 1},\n "mcp": {},\n "worker": {}}', 3),
        ("a.json", '{"tools": {"filter": {"a{": "}", "b": [{"x": 1}, {"x": 2}],\n"b": 1}}}', 2),
        ("a.toml", "embedder = 'hash'\nembedder = 'secret'", 2),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=f"line {line}") as refused:
        read_config(tmp_path / name, {})
    assert "secret" not in str(refused.value)
    with pytest.raises(ConfigError, match=f"line {line}"):
        read_profile(tmp_path / name)


def test_the_same_key_in_different_tables_is_no_double(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"tools": {"filter": {"or": [{"a": 1}, {"a": 2}], "\\"a": "{"}, "top_k": 3},'
        ' "folder": [{"path": "a"}, {"path": "b"}]}'
    )
    assert read_config(tmp_path / "a.json", {}).tools.top_k == 3
    (tmp_path / "a.yaml").write_text(
        "folder:\n- &first {path: a, namespace: x}\n- {<<: *first, path: b}\n"
    )
    assert [one.namespace for one in read_config(tmp_path / "a.yaml", {}).folder] == ["x", "x"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("poolsize = 3", "settings.pool_size?"),
        ("[settings]\npoolsize = 3", "Did you mean pool_size?"),
        ("[cache]\npoolsize = 3", "settings.pool_size?"),
        ("[profile]\npoolsize = 3", "settings.pool_size?"),
        ("[settings]\ndsn = 'x'", "dsn, at the top of the file?"),
        ("[settings]\ntimeout = 3", "pool_timeout, or openai.timeout?"),
        ("collapse = 0.9", "profile.collapse?"),
        ("[[folders]]\npath = 'a'", "Did you mean folder, or worker.folders?"),
        ("[tools]\nk = 3", "Known: namespaces"),
        ("path = 'x'", "Known: dsn"),
    ],
)
def test_the_hint_names_the_key_that_was_meant(tmp_path: Path, text: str, meant: str) -> None:
    (tmp_path / "ragpg.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_config(tmp_path / "ragpg.toml", {})
    assert meant in (refused.value.hint or "")


def test_a_file_that_is_there_is_never_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "below"
    below.mkdir()
    for here in (tmp_path, below):
        monkeypatch.chdir(here)
        (tmp_path / "ragpg.toml").symlink_to("nowhere.toml")
        with pytest.raises(ConfigError, match=r"ragpg\.toml cannot be read: No such file"):
            read_config(environment={})
        (tmp_path / "ragpg.toml").unlink()
        (tmp_path / "ragpg.toml").write_text('embedder = "hash"')
        (tmp_path / "ragpg.yaml").write_text("embedder: local")
        with pytest.raises(ConfigError, match=r"there are ragpg\.toml and ragpg\.yaml") as refused:
            read_config(environment={})
        assert "--config" in (refused.value.hint or "")
        named = {"RAGPG_CONFIG": str(tmp_path / "ragpg.yaml")}
        assert read_config(environment=named).embedder == "local"
        (tmp_path / "ragpg.toml").unlink()
        (tmp_path / "ragpg.yaml").unlink()


def test_in_a_directory_that_is_gone_there_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert read_config(environment={}).path is None


def test_a_knob_of_the_profile_says_who_set_it(tmp_path: Path) -> None:
    file = tmp_path / "ragpg.toml"

    def origins(text: str, **environment: str) -> list[str]:
        file.write_text(text)
        found = read_config(file, environment).origins
        return [found.get(f"profile.{key}", found["profile"]) for key in ("parents", "collapse")]

    assert origins("[profile]\nparents = 1") == ["file", "profile measured"]
    assert origins("[profile]\nbase = 'fast'\ncollapse = 0.8") == ["profile fast", "file"]
    assert origins("profile = 'seed'") == ["profile seed", "profile seed"]
    assert origins("") == ["default", "default"]
    assert origins("[profile]\nparents = 1", RAGPG_PROFILE="seed") == ["profile seed"] * 2


@pytest.mark.parametrize(
    "dsn",
    [
        "host=x password=topsecret",
        "host=x password='topsecret of us' user=me",
        "postgresql://x/db?password=topsecret",
        "postgresql://u:topsecret@x/db",
    ],
)
def test_show_never_prints_a_password(tmp_path: Path, dsn: str) -> None:
    (tmp_path / "ragpg.toml").write_text(f'dsn = "{dsn}"')
    shown = CliRunner().invoke(main, ["config", "show", "--config", str(tmp_path / "ragpg.toml")])
    assert (shown.exit_code, "secret" in shown.output, "of us" in shown.output) == (0, False, False)
    assert "***" in shown.output


def test_the_page_shows_what_somebody_gets_who_sets_nothing_and_its_sample_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragpg.config.reference import reference

    page = reference()
    monkeypatch.chdir(tmp_path)
    found = read_config(environment={}).profile
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| `?([^|`]*)`? \| `RAGPG_PROFILE_", page, re.M))
    for name in ("collapse", "mmr", "candidates"):
        assert rows[name] == json.dumps(getattr(found, name)), name
    (tmp_path / "ragpg.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    needed = re.findall(r"mkdir -p (\w+)", page)
    for name in needed:
        (tmp_path / name).mkdir()
    checked = CliRunner().invoke(main, ["config", "check"])
    assert (checked.exit_code, checked.output) == (0, "OK ragpg.toml\n")


def test_a_variable_that_sets_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGPG_POOLSIZE", "3")
    monkeypatch.setenv("RAGPG_TENANTS_OF_OURS", "x")
    monkeypatch.setenv("RAGPG_WORKER_THREADS", "2")
    monkeypatch.setenv("RAGPG_DB_HOME", str(tmp_path))
    told = CliRunner().invoke(main, ["config", "check", "--json"])
    assert (told.exit_code, json.loads(told.output)["notes"]) == (
        0,
        [
            "the variable RAGPG_POOLSIZE sets nothing; did you mean RAGPG_POOL_SIZE?",
            "the variable RAGPG_TENANTS_OF_OURS sets nothing",
        ],
    )
    assert (
        "note: the variable RAGPG_POOLSIZE" in CliRunner().invoke(main, ["config", "check"]).stderr
    )


def test_a_wrong_value_of_the_environment_is_named_with_its_variable() -> None:
    for variable, value in (
        ("RAGPG_PROFILE", "nope"),
        ("RAGPG_PROFILE_GATE", "4"),
        ("RAGPG_PROFILE_ARMS", "{"),
        ("RAGPG_POOL_SIZE", "9" * 5000),
    ):
        with pytest.raises(ConfigError) as refused:
            read_config(environment={variable: value})
        assert str(refused.value).startswith(variable)
        assert len(str(refused.value)) < 250


def test_folders_of_models_count_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "models" / "nli").mkdir(parents=True)
    (tmp_path / "local").mkdir()
    file = tmp_path / "ragpg.toml"
    file.write_text(
        'embedder = "local, path:models/one"\nreranker = "late,onnx:models/two"\n'
        '[profile]\njudge = "models/nli"\n[namespaces.a]\nembedder = "path:/models/three"'
    )
    found = read_config(file, {})
    assert found.embedder == f"local, path:{tmp_path}/models/one"
    assert found.reranker == f"late,onnx:{tmp_path}/models/two"
    assert found.profile.judge == f"{tmp_path}/models/nli"
    assert found.namespaces["a"].embedder == "path:/models/three"
    file.write_text('[profile]\njudge = "nli:models/nli"')
    assert read_config(file, {}).profile.judge == f"nli:{tmp_path}/models/nli"
    # What somebody types counts from where it is typed.
    assert read_config(file, {"RAGPG_EMBEDDER": "path:x"}).embedder == "path:x"
