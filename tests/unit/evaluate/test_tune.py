"""Tuning the fusion: it finds what helps, keeps the default on noise, and never scores itself."""

from __future__ import annotations

import random
import statistics
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.tune import CANDIDATES, DEFAULT, tune

if TYPE_CHECKING:
    from collections.abc import Mapping

QUESTIONS = [f"q{number}" for number in range(60)]


def measured(best: Mapping[str, Any], gain: float, noise: float, seed: int = 3) -> Any:
    draw = random.Random(seed)
    table = {
        (question, repr(one)): 0.5 + gain * (one == best) + draw.uniform(-noise, noise)
        for question in QUESTIONS
        for one in CANDIDATES
    }
    return lambda question, fusion: table[question, repr(fusion)]


def test_a_fusion_that_helps_is_found_and_its_worth_is_held_out() -> None:
    best = {"method": "convex", "alpha": 0.9}
    found = tune(QUESTIONS, measured(best, 0.1, 0.1))
    assert found.fusion == best
    assert found.held_out - found.default == pytest.approx(found.change.mean)
    assert found.change.low > 0
    assert list(found.by_fold) == [best] * 5


def test_noise_is_not_taken_for_gain() -> None:
    found = [tune(QUESTIONS, measured({}, 0, 0.3, seed)) for seed in range(10)]
    assert sum(one.change.significant and one.change.mean > 0 for one in found) <= 1
    # On all questions the best of many looks better than it is; held out, it does not.
    best = statistics.fmean(max(mean for _, mean in one.means) for one in found)
    assert best > statistics.fmean(one.held_out for one in found) + 0.01


def test_a_question_has_no_part_in_its_own_score() -> None:
    """One candidate is better on a single question by so much that it wins on the mean."""
    odd = {"method": "minmax"}

    def measure(question: str, fusion: Mapping[str, Any]) -> float:
        return 1000.0 if (question, fusion) == ("q0", odd) else 0.5

    found = tune(QUESTIONS, measure)
    assert found.held_out == 0.5
    assert found.fusion == DEFAULT


def test_every_question_is_asked_once_with_each_candidate() -> None:
    asked: list[tuple[str, str]] = []
    steps: list[tuple[int, int]] = []

    def measure(question: str, fusion: Mapping[str, Any]) -> float:
        asked.append((question, repr(fusion)))
        return 0.5

    tune(QUESTIONS, measure, progress=lambda done, total: steps.append((done, total)))
    assert len(asked) == len(set(asked)) == len(QUESTIONS) * len(CANDIDATES)
    assert steps[-1] == (len(CANDIDATES), len(CANDIDATES))


def test_the_same_questions_give_the_same_choice() -> None:
    measure = measured({"method": "adaptive", "bias": -1.0}, 0.05, 0.2)
    assert tune(QUESTIONS, measure) == tune(QUESTIONS, measure)


@pytest.mark.parametrize(
    ("questions", "folds"), [(QUESTIONS[:9], 5), (QUESTIONS, 1), (QUESTIONS, 61), ([], 5)]
)
def test_too_little_to_tune_from_is_an_error(questions: list[str], folds: int) -> None:
    with pytest.raises(ConfigError, match=f"{len(questions)} questions in {folds} folds"):
        tune(questions, lambda question, fusion: 0.5, folds=folds)
