"""Cross-validation: each question is scored under a choice in which it had no say."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Question = TypeVar("Question", str, int)
Choice = TypeVar("Choice")


def held_out(
    order: Sequence[Question],
    folds: int,
    choose: Callable[[list[Question]], Choice],
    score: Callable[[Choice, Question], float],
) -> tuple[dict[Question, float], list[Choice]]:
    """The score of every question under what `choose` made of the other folds, and the choice of
    each fold. Questions are dealt in the order given, one a fold in turn."""
    scores: dict[Question, float] = {}
    choices: list[Choice] = []
    for fold in range(folds):
        out = set(order[fold::folds])
        chosen = choose([question for question in order if question not in out])
        choices.append(chosen)
        scores |= {question: score(chosen, question) for question in order[fold::folds]}
    return scores, choices
