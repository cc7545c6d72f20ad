"""Metrics over distinct ids, and means that cannot hide failures."""

from __future__ import annotations

import math

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.metrics import Failure, ndcg, precision, recall, reciprocal_rank, summarize


@pytest.mark.case("EV-01")
def test_a_repeated_id_counts_once_ev_01() -> None:
    one = {"d7": 1.0}
    assert recall(["d7", "d7", "d2"], one, 3) == 1.0
    assert ndcg(["d7", "d7", "d2"], one, 3) == 1.0
    assert precision(["d7", "d7", "d2"], one, 3) == pytest.approx(1 / 3)
    two = {"d7": 1.0, "d8": 1.0}
    assert recall(["d7", "d7", "d7"], two, 3) == 0.5
    assert 0 < ndcg(["d7", "d7", "d7"], two, 3) < 1
    for metric in (recall, ndcg, precision, reciprocal_rank):
        assert metric([], one, 3) == 0.0


@pytest.mark.case("EV-01")
@pytest.mark.parametrize("metric", [recall, ndcg, precision, reciprocal_rank])
@pytest.mark.parametrize("k", [0, 1, 3, 100])
def test_every_metric_stays_within_0_and_1_ev_01(metric: type, k: int) -> None:
    for retrieved in ([], ["a"], ["a", "a", "b"], ["c", "b", "a", "a", "z"]):
        for gains in ({}, {"a": 4.0}, {"a": 0.0}, {"a": -1.0, "b": 3.0, "c": 2.0}):
            assert 0 <= metric(retrieved, gains, k) <= 1


def test_ndcg_has_linear_gain() -> None:
    gains = {"a": 3.0, "b": 1.0}
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert ndcg(["b", "a"], gains, 10) == pytest.approx(expected)


@pytest.mark.case("EV-02")
def test_failures_are_counted_and_cannot_lift_the_mean_ev_02() -> None:
    summary = summarize(
        {
            "q1": 1.0,
            "q2": 0.0,
            "q3": Failure("time-out"),
            "q4": Failure("refusal", kind="not scorable"),
        }
    )
    assert (summary.scored, summary.failed, summary.not_scorable) == (2, 1, 1)
    assert summary.mean == 0.5
    assert summary.failed_as_zero == pytest.approx(1 / 3)
    assert not summary.passes(0.4)
    assert summary.passes(0.4, max_failed_share=0.5)
    assert not summary.passes(0.6, max_failed_share=0.5)


@pytest.mark.case("EV-02")
def test_the_mean_is_never_nan_ev_02() -> None:
    summary = summarize({"q1": math.nan, "q2": 1.0})
    assert summary.mean == 1.0
    assert summary.failures["q1"].reason == "the score is nan"
    empty = summarize({"q1": Failure("time-out")})
    assert empty.mean is None
    assert not empty.passes(0.0, max_failed_share=1.0)


def test_an_impossible_score_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"1\.5"):
        summarize({"q1": 1.5})
