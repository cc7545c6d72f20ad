"""Gold spans are matched by the characters that hits cover, not by chunk."""

from __future__ import annotations

import pytest

from ragpg.evaluate.gold import GoldDocuments, GoldSpans, Span
from ragpg.types import Hit


def _hit(source: str, start: int | None, end: int | None) -> Hit:
    return Hit(1, 1.0, "n", source, "text", start_char=start, end_char=end)


GOLD = GoldSpans([Span("a", 100, 200)])


@pytest.mark.parametrize(
    ("hits", "place"),
    [
        ([_hit("a", 100, 200)], 0),
        ([_hit("a", 50, 150)], 0),  # an overlapping neighbour with half of it
        ([_hit("a", 50, 149)], None),
        ([_hit("b", 100, 200)], None),  # another document
        ([_hit("a", 0, 130), _hit("b", 0, 9), _hit("a", 170, 300)], 2),  # two parts make it whole
        ([_hit("a", 100, 130), _hit("a", 110, 130)], None),  # the same characters count once
        ([_hit("a", None, None)], None),
    ],
)
def test_a_span_is_found_where_half_of_it_is_covered(hits: list[Hit], place: int | None) -> None:
    ranking = GOLD.ranking(hits)
    assert len(ranking) == len(hits)
    found = ranking.index(GOLD.spans[0].id) if GOLD.spans[0].id in ranking else None
    assert found == place


def test_the_share_can_be_chosen() -> None:
    strict = GoldSpans(GOLD.spans, coverage=0.9)
    assert strict.spans[0].id not in strict.ranking([_hit("a", 100, 180)])
    assert strict.spans[0].id in strict.ranking([_hit("a", 100, 190)])


def test_a_span_is_found_once() -> None:
    ranking = GOLD.ranking([_hit("a", 100, 200), _hit("a", 100, 200)])
    assert ranking == [GOLD.spans[0].id, "hit 1"]


def test_a_hit_with_two_spans_takes_two_places() -> None:
    gold = GoldSpans([Span("a", 0, 10), Span("a", 20, 30)])
    assert gold.ranking([_hit("a", 0, 40), _hit("b", 0, 1)]) == ["a[0:10]", "a[20:30]", "hit 1"]


def test_how_much_of_the_gold_a_context_shows() -> None:
    gold = GoldSpans([Span("a", 0, 100), Span("b", 0, 100)])
    assert gold.covered([_hit("a", 50, 150), _hit("a", 0, 60)]) == 0.5
    assert gold.covered([]) == 0.0
    sentence = GoldSpans([Span("a", 0, 100)], evidence=[Span("a", 0, 10)])
    assert sentence.covered([_hit("a", 0, 10)]) == 1.0
    evidence = GoldDocuments({"a": 1.0}, [Span("a", 0, 10)])
    assert evidence.covered([_hit("a", 5, 50)]) == 0.5
    documents = GoldDocuments({"a": 1.0, "b": 2.0, "c": 0.0})
    assert documents.covered([_hit("a", 0, 1), _hit("c", 0, 1)]) == 0.5
    assert documents.ranking([_hit("b", 0, 1), _hit("b", 1, 2), _hit("a", 0, 1)]) == ["b", "a"]
