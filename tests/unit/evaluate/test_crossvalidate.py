"""A choice is scored only on queries that had no say in it."""

from __future__ import annotations

import random
from hashlib import sha256

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.crossvalidate import FOLDS, FUSIONS, choose_setting, name_of

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


def test_one_odd_query_chooses_nothing() -> None:
    # A setting that wins on the mean by a single query has not beaten the default.
    scores = _scores(50, 0.0)
    scores["minmax"] = {**scores["adaptive"], "q0": 1000.0}
    tuned = choose_setting("nDCG@10", SETTINGS, scores)
    assert tuned.best == {"method": "adaptive"}
    assert tuned.held_out == scores["adaptive"]


def test_the_same_scores_give_the_same_choice() -> None:
    assert choose_setting("nDCG@10", SETTINGS, _scores(50, 0.01)) == choose_setting(
        "nDCG@10", SETTINGS, _scores(50, 0.01)
    )


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
    # Each setting is perfect on the queries of one fold: none of them may be scored with it.
    queries = sorted((f"q{n}" for n in range(20)), key=lambda one: sha256(one.encode()).digest())
    folds = {f"s{n}": queries[n::FOLDS] for n in range(FOLDS)}
    scores = {"default": dict.fromkeys(queries, 0.0)} | {
        name: {one: float(one in mine) for one in queries} for name, mine in folds.items()
    }
    tuned = choose_setting("nDCG@10", {one: {"method": one} for one in scores}, scores)
    assert tuned.best == {"method": "s0"}
    assert set(tuned.chosen) == {"s0", "s1"}
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
