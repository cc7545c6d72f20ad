"""Intervals that hold the truth, and differences that know chance."""

from __future__ import annotations

import random

import pytest

from ragpg.evaluate.bootstrap import difference, interval


def _values(count: int, mean: float, seed: int) -> dict[str, float]:
    chance = random.Random(seed)
    return {f"q{n}": chance.gauss(mean, 0.2) for n in range(count)}


def test_an_interval_is_as_wide_as_theory_says() -> None:
    found = interval([_values(400, 0.5, 3)])
    assert found is not None
    assert found.low < found.mean < found.high
    # Twice 1.96 standard errors of the mean: 0.2 / sqrt(400).
    assert found.high - found.low == pytest.approx(0.0392, rel=0.15)


def test_ninety_five_of_a_hundred_intervals_hold_the_truth() -> None:
    held = 0
    for seed in range(100):
        found = interval([_values(60, 0.5, seed)], resamples=300)
        assert found is not None
        held += found.low <= 0.5 <= found.high
    assert 88 <= held <= 99


def test_a_small_constant_gain_is_significant_only_when_paired() -> None:
    old = _values(100, 0.5, 1)
    gain = difference([({query: value + 0.01 for query, value in old.items()}, old)])
    assert gain is not None
    assert gain.mean == pytest.approx(0.01)
    assert gain.significant
    other = difference([(_values(100, 0.51, 2), old)])
    assert other is not None
    assert not other.significant


def test_no_difference_is_no_evidence() -> None:
    same = difference([({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0})])
    assert same is not None
    assert (same.mean, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)


def test_only_queries_of_both_are_compared() -> None:
    found = difference([({"a": 1.0, "b": 1.0}, {"b": 0.5, "c": 0.0})])
    assert found is not None
    assert found.mean == 0.5
    assert difference([({"a": 1.0}, {"b": 1.0})]) is None
    assert interval([{}]) is None


def test_questions_of_one_group_are_drawn_together() -> None:
    values = {
        f"{n}/{copy}": value for n, value in _values(20, 0.5, 5).items() for copy in range(10)
    }
    alone = interval([values])
    grouped = interval([values], {query: query.partition("/")[0] for query in values})
    assert alone is not None
    assert grouped is not None
    assert alone.mean == pytest.approx(grouped.mean)
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_every_set_counts_the_same_in_a_mean_of_sets() -> None:
    large = {f"q{n}": 1.0 for n in range(90)}
    found = interval([large, {"a": 0.0, "b": 0.0}])
    assert found is not None
    assert (found.mean, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))


def test_the_same_values_give_the_same_digits() -> None:
    values = _values(50, 0.4, 9)
    assert interval([values]) == interval([dict(reversed(values.items()))])
