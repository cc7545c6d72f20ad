"""Profiles: what files say, what is refused, and what a search makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.errors import ConfigError
from ragpg.query.profile import Profile, built_in, profile_of, read_profile
from ragpg.query.request import Request

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_VALUES = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(0, 1), _TEXT, st.lists(_TEXT))


def test_the_built_in_profiles_can_be_read_and_differ() -> None:
    read = [read_profile(name) for name in built_in()]
    assert [one.name for one in read] == built_in()
    assert len({one.to_toml() for one in read}) == 3


def test_the_default_is_measured_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_profile().name == "measured"
    monkeypatch.setenv("RAGPG_PROFILE", "fast")
    assert read_profile().name == "fast"


@pytest.mark.parametrize("suffix", [".toml", ".json", ".yaml"])
def test_a_file_gives_what_differs_from_its_base(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"support{suffix}"
    values = {"base": "fast", "mmr": 0.7, "rerankers": ["late"]}
    if suffix == ".toml":
        path.write_text('base = "fast"\nmmr = 0.7\nrerankers = ["late"]\n')
    else:
        path.write_text(json.dumps(values))
    found = read_profile(path)
    assert (found.name, found.mmr, tuple(found.rerankers)) == ("support", 0.7, ("late",))
    assert found.arms == read_profile("fast").arms
    assert not found.carryover


@given(st.dictionaries(_TEXT, _VALUES), st.dictionaries(_TEXT, _VALUES), _TEXT)
def test_what_is_written_is_read_again(
    arms: dict[str, object], fusion: dict[str, object], name: str
) -> None:
    import tomllib

    profile = Profile(name=name, arms=arms, fusion=fusion, mmr=0.5, citation_style="markdown")
    assert profile_of(tomllib.loads(profile.to_toml()), "x") == profile


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mmmr = 0.7", "Did you mean mmr?"),
        ("mmr = 7", "mmr must be a number from 0 to 1"),
        ("mmr = true", "mmr must be a number from 0 to 1"),
        ("candidates = -1", "candidates must be a whole number"),
        ("compress = 1", "compress must be true or false"),
        ('rerankers = "late"', "rerankers must be a list of names"),
        ('rerankers = ["lates"]', "there is no reranker 'lates'"),
        ('citation_style = "loud"', "citation_style must be one of"),
        ('base = "slow"', "base must be one of"),
        ("arms = 3", "arms must be a table"),
        ("mmr = ", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="own") as refused:
        read_profile(path)
    assert said in str(refused.value)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean measured"):
        read_profile("mesured")


def test_the_callers_arms_go_over_those_of_the_profile() -> None:
    profile = Profile(arms={"vector": {"k": 80}, "prf": False})
    merged = Request("q", profile=profile, arms={"vector": {"weight": 2}, "prf": True})
    assert merged.chosen_arms == {"vector": {"k": 80, "weight": 2}, "prf": True}
    assert Request("q", profile=profile, arms=["keyword"]).chosen_arms == ["keyword"]
    assert Request("q", profile=Profile()).chosen_arms is None


def test_an_argument_wins_over_the_profile() -> None:
    profile = Profile(candidates=30, context_tokens=100)
    assert (Request("q", profile=profile).pool, Request("q", profile=profile).budget) == (30, 100)
    own = Request("q", profile=profile, candidates=0, context_tokens=7)
    assert (own.pool, own.budget) == (0, 7)


def test_history_must_be_a_list_of_texts() -> None:
    with pytest.raises(ConfigError, match="history"):
        Request("q", history="earlier")
