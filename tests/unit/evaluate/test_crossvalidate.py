"""A choice is scored only on queries that had no say in it."""

from __future__ import annotations

import random

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.crossvalidate import FUSIONS, choose_setting, name_of

SETTINGS = {name: {"method": name} for name in ("adaptive", "convex", "minmax")}


def _scores(count: int, gain: float) -> dict[str, dict[str, float]]:
    chance = random.Random(1)
    base = {f"q{n}": chance.random() / 2 for n in range(count)}
    return {
        "adaptive": base,
        "convex": {query: value + gain for query, value in base.items()},
        "minmax": dict.fromkeys(base, 0.0),
    }


def test_a_better_setting_is_found_and_its_gain_is_held_out() -> None:
    tuned = choose_setting("nDCG@10", SETTINGS, _scores(50, 0.1))
    assert tuned.best == {"method": "convex"}
    assert tuned.chosen == {"convex": 5}
    assert tuned.gain is not None
    assert tuned.gain.mean == pytest.approx(0.1)
    assert tuned.worth_it
    assert tuned.to_json()["queries"] == 50


def test_the_default_wins_ties() -> None:
    tuned = choose_setting("nDCG@10", SETTINGS, _scores(50, 0.0))
    assert tuned.best == {"method": "adaptive"}
    assert not tuned.worth_it


def test_noise_is_seldom_sold_as_a_gain() -> None:
    # Ten settings that differ by chance alone: the best of them looks good on its own queries.
    alarms, optimism = 0, 0.0
    for seed in range(20):
        chance = random.Random(seed)
        scores = {f"s{n}": {f"q{m}": chance.random() for m in range(40)} for n in range(10)}
        tuned = choose_setting("nDCG@10", {name: {"method": name} for name in scores}, scores)
        alarms += tuned.worth_it
        held_out = sum(tuned.held_out.values()) / 40
        optimism += (tuned.means[name_of(tuned.best)] - held_out) / 20
    assert alarms <= 2
    assert optimism > 0.03, "the score on its own queries is no estimate"


def test_each_query_is_scored_by_the_choice_of_the_others() -> None:
    # Each setting is perfect on one query only: that query must not be scored with it.
    queries = [f"q{n}" for n in range(10)]
    scores = {name: {one: float(one == name) for one in queries} for name in queries}
    tuned = choose_setting("nDCG@10", {one: {"method": one} for one in queries}, scores)
    assert sum(tuned.held_out.values()) == 0.0


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(ConfigError, match="9 judged queries are too few"):
        choose_setting("nDCG@10", SETTINGS, _scores(9, 0.1))
    with pytest.raises(ConfigError, match="0 judged queries"):
        choose_setting("nDCG@10", SETTINGS, {})


def test_settings_have_names() -> None:
    names = [name_of(fusion) for fusion in FUSIONS]
    assert names[0] == "adaptive"
    assert len(set(names)) == len(names)
    assert "convex alpha=0.4" in names
