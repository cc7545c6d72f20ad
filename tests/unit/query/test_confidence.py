"""The confidence of a result: a probability, from what the arms report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.query import legible
from ragpg.query.confidence import WEAK, confidence
from ragpg.steps import run
from ragpg.types import ArmReport, Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD = {
    "keyword": {"coverage": 0.7, "gap": 0.35, "unknown": 0.0, "terms": 7, "agreement": 0.4},
    "vector": {"near": 0.7, "gap": 0.25, "agreement": 0.4},
}
BAD = {
    "keyword": {"coverage": 0.2, "gap": 0.05, "unknown": 0.6, "terms": 7, "agreement": 0.0},
    "vector": {"near": 0.25, "gap": 0.03, "agreement": 0.0},
}


def hits(count: int) -> list[Hit]:
    return [Hit(rank, 1 / rank, "n", f"s{rank}", "text") for rank in range(1, count + 1)]


def report(signals: dict[str, dict[str, float]], *arms: str) -> dict[str, ArmReport]:
    told = {arm: ArmReport(rows=10, signals=signals[arm]) for arm in arms}
    return {"metadata": ArmReport(skipped="no filter"), **told}


@pytest.mark.parametrize("arms", [("keyword", "vector"), ("keyword",), ("vector",)])
def test_good_signals_are_believed_and_bad_ones_are_not(arms: tuple[str, ...]) -> None:
    good = confidence("refund period", hits(10), report(GOOD, *arms))
    bad = confidence("refund period", hits(10), report(BAD, *arms))
    assert good.value > 0.8
    assert not good.weak
    assert bad.value < WEAK
    assert bad.weak
    total = sum(good.parts.values())
    assert good.value == pytest.approx(1 / (1 + math.exp(-total)))


def test_more_hits_are_likelier_to_hold_a_relevant_one_up_to_ten() -> None:
    values = [
        confidence("refund", hits(count), report(GOOD, "keyword", "vector")).value
        for count in (1, 3, 10, 50)
    ]
    assert values[0] < values[1] < values[2] == values[3]


def test_no_hits_are_no_answer() -> None:
    assert confidence("refund", [], report(GOOD, "keyword", "vector")).value == 0.0
    assert confidence("refund", [], {}).weak


@pytest.mark.parametrize(
    "told", [{}, {"graph": ArmReport(rows=3)}, {"keyword": ArmReport(error="broken")}]
)
def test_without_signals_nothing_is_claimed(told: dict[str, ArmReport]) -> None:
    found = confidence("refund", hits(3), told)
    assert (found.value, found.known, found.weak) == (0.5, False, False)
    assert not confidence(" ", hits(3), report(GOOD, "keyword")).known


def test_missing_and_strange_signals_count_as_nothing() -> None:
    odd = {"keyword": ArmReport(rows=1, signals={"gap": float("nan"), "terms": 2, "new": 7.0})}
    assert 0 < confidence("refund", hits(1), odd).value < WEAK
    assert 0 < confidence("refund", hits(1), {"vector": ArmReport(signals={"gap": 1e9})}).value <= 1
    assert (
        0 <= confidence("refund", hits(1), {"vector": ArmReport(signals={"gap": -1e9})}).value < 1
    )


def told(unknown: float, coverage: float, gap: float, *, unread: bool) -> float:
    signals = {"coverage": coverage, "gap": gap, "unknown": unknown, "terms": 9}
    found = {"keyword": ArmReport(rows=10, signals=signals), "vector": ArmReport()}
    if unread:
        found["embed"] = legible.unread(0.02)
    return confidence("متى تم إعلان هذا المرسوم؟", hits(10), found).value


def test_unknown_words_say_nothing_against_a_query_that_the_model_cannot_read() -> None:
    # Near the mean signals of Arabic questions with and without an answer.
    assert told(0.5, 0.3, 0.25, unread=False) < 0.4 < told(0.5, 0.3, 0.25, unread=True)
    assert told(0.1, 0.12, 0.07, unread=True) < WEAK
    # One known word of ten is found wherever it stands.
    assert told(0.9, 0.1, 0.02, unread=True) < WEAK
    # An embedder that failed is another matter.
    failed = {"keyword": ArmReport(rows=10, signals=GOOD["keyword"])}
    away = failed | {"embed": ArmReport(error="away")}
    assert confidence("x", hits(10), away) == confidence("x", hits(10), failed)


class Reads:
    """An embedder that reads plain Latin letters."""

    model, dimensions = "reads", 1

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        raise AssertionError

    def embed_query(self, text: str) -> list[float]:
        raise AssertionError

    def reads(self, text: str) -> float:
        return sum(map(str.isascii, text)) / len(text)


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("refunds", "refunds", 1.0),
        ("ｒｅｆｕｎｄｓ", "refunds", 1.0),
        ("oﬃce", "office", 1.0),
        ("المال", "المال", 0.0),
        # Its plain form is no better read.
        ("㍿", "㍿", 0.0),
    ],
)
def test_letters_in_another_form_are_read_in_their_plain_one(
    query: str, text: str, share: float
) -> None:
    def perform(step: Any) -> Any:
        return step.function(*step.arguments)

    assert run(legible.legibility(query, Reads()), perform) == (text, share)
    assert run(legible.legibility(query, None), perform) == (query, 1.0)
