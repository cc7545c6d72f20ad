"""Metrics over distinct ids, and means that cannot hide failures."""

from __future__ import annotations

import math

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.metrics import (
    Failure,
    all_found,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    summarize,
)


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


#: Rankings, graded judgements, and what trec_eval (through pytrec_eval) computed for them.
TREC_EVAL: list[tuple[str, dict[str, float], dict[str, float]]] = [
    (
        "d2 d7 d29 d17 d13 d1 d18 d3 d28 d20 d23 d24",
        {"d10": 1, "d4": 3, "d12": 0, "d20": 3, "d1": 0, "d2": 0, "d17": 0, "d3": 2},
        {"MRR": 0.125, "P@10": 0.2, "recall@10": 0.5, "nDCG@3": 0.0, "nDCG@10": 0.236915},
    ),
    (
        "d5 d3 d18 d27 d20 d6 d11 d28 d17 d2 d26 d1 d24 d15 d13 d12 d29 d7 d9 d14",
        {"d18": 1, "d29": 2, "d12": 0, "d1": 3, "d7": 0, "d26": 3, "d17": 1, "d4": 3},
        {"MRR": 0.333333, "P@10": 0.2, "recall@10": 0.333333, "nDCG@3": 0.078213, "nDCG@10": 0.100164},
    ),
    (
        "d26 d2 d8 d15 d22",
        {"d10": 3, "d4": 1, "d15": 1, "d13": 1, "d1": 3, "d21": 2, "d2": 3, "d17": 2},
        {"MRR": 0.5, "P@10": 0.2, "recall@10": 0.25, "nDCG@3": 0.296082, "nDCG@10": 0.257224},
    ),
    (
        "d3 d15 d1 d6 d24 d9 d4 d7 d12 d21 d28 d2 d5 d14 d20 d8 d23 d18 d26 d16",
        {"d21": 2, "d2": 1, "d1": 2, "d23": 1, "d22": 0, "d9": 2, "d20": 1, "d18": 0},
        {"MRR": 0.333333, "P@10": 0.3, "recall@10": 0.5, "nDCG@3": 0.234639, "nDCG@10": 0.421397},
    ),
    (
        "d8 d9 d0 d4 d13",
        {"d8": 0, "d22": 0, "d13": 0, "d11": 0, "d21": 0, "d12": 0, "d7": 2, "d4": 3},
        {"MRR": 0.25, "P@10": 0.1, "recall@10": 0.5, "nDCG@3": 0.0, "nDCG@10": 0.303161},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("ranking", "gains", "expected"), TREC_EVAL)
def test_the_numbers_are_those_of_trec_eval(
    ranking: str, gains: dict[str, float], expected: dict[str, float]
) -> None:
    ids = ranking.split()
    found = {
        "MRR": reciprocal_rank(ids, gains, 1000),
        "P@10": precision(ids, gains, 10),
        "recall@10": recall(ids, gains, 10),
        "nDCG@3": ndcg(ids, gains, 3),
        "nDCG@10": ndcg(ids, gains, 10),
    }
    assert found == pytest.approx(expected, abs=1e-6)


def test_all_found_wants_every_relevant_id() -> None:
    gains = {"a": 1.0, "b": 2.0, "c": 0.0}
    assert all_found(["a", "x", "b"], gains, 3) == 1.0
    assert all_found(["a", "x", "b"], gains, 2) == 0.0
    assert all_found(["a"], {"a": 0.0}, 3) == 0.0, "nothing to find is no success"
