"""Near duplicates and MMR."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.errors import ConfigError
from ragpg.query.diversity import diversify
from ragpg.types import Hit

TEXT = "Refunds are paid within 14 days to the card that paid. The supplier bears the shipping."


def hits(*texts: str) -> list[Hit]:
    return [
        Hit(n, 1.0 - n / 100, "shop", f"{n}.md", text, chunk_id=n, start_line=n, end_line=n + 1)
        for n, text in enumerate(texts, start=1)
    ]


def sources(found: list[Hit]) -> list[str]:
    return [hit.source for hit in found]


def test_a_copy_collapses_into_the_better_hit_which_names_it() -> None:
    kept, other = diversify(
        hits(TEXT, "Gift cards never expire.", TEXT.upper(), f"  {TEXT}\n"), collapse=0.9
    )
    assert (kept.source, other.source) == ("1.md", "2.md")
    assert [one.source for one in kept.duplicates] == ["3.md", "4.md"]
    assert [one.similarity for one in kept.duplicates] == [1.0, 1.0]
    assert kept.duplicates[0].start_line == 3
    assert not other.duplicates
    assert [one.rank for one in (kept, other)] == [1, 2]


@pytest.mark.parametrize(
    ("old", "new"),
    [("14", "41"), ("are paid", "are not paid"), ("14 days", "14.5 days")],
)
def test_another_number_or_a_negation_is_no_copy(old: str, new: str) -> None:
    long = TEXT + " " + "Ask the desk on the ground floor for the form that starts the return. " * 3
    assert len(diversify(hits(long, long.replace(old, new)), collapse=0.7)) == 2
    assert len(diversify(hits(long, long.replace("desk", "table")), collapse=0.7)) == 1


def test_a_hit_that_says_more_stays() -> None:
    more = f"{TEXT} Gift cards are not refunded at all, which the shop explains at the till."
    assert len(diversify(hits(TEXT, more), collapse=0.9)) == 2
    assert len(diversify(hits(more, TEXT), collapse=0.9)) == 1


@pytest.mark.parametrize(
    "text",
    ["供应商在第一年内支付退货运费。", "ผู้จัดจำหน่ายจ่ายค่าส่งคืนภายในปีแรก", "短", "!!!", "one two"],
)
def test_copies_in_any_script_and_of_any_length(text: str) -> None:
    assert len(diversify(hits(text, text, "something else entirely is here"), collapse=0.9)) == 2


def test_mmr_puts_the_new_topic_before_the_third_like_hit() -> None:
    found = hits("a", "b", "c", "d")
    alike = {(0, 1): 0.95, (0, 2): 0.95, (1, 2): 0.95, (0, 3): 0.1, (1, 3): 0.1, (2, 3): 0.1}
    assert sources(diversify(found, alike, mmr=0.5)) == ["1.md", "4.md", "2.md", "3.md"]
    assert sources(diversify(found, alike, mmr=1.0)) == sources(found)


def test_without_vectors_shared_words_tell_what_is_alike() -> None:
    cards = "Gift cards never expire and are accepted in every shop of the chain."
    found = hits(TEXT, f"{TEXT} Always.", cards)
    assert sources(diversify(found, mmr=0.5)) == ["1.md", "3.md", "2.md"]


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="mmr"):
        diversify(hits("a"), mmr=1.5)
    with pytest.raises(ConfigError, match="collapse"):
        diversify(hits("a"), collapse=-0.1)


@given(
    texts=st.lists(st.text("ab12 不猫", max_size=40), max_size=12),
    mmr=st.none() | st.floats(0, 1),
    collapse=st.none() | st.floats(0, 1),
    scores=st.lists(st.floats(-5, 5), min_size=12, max_size=12),
)
def test_nothing_is_lost_or_invented(
    texts: list[str], mmr: float | None, collapse: float | None, scores: list[float]
) -> None:
    given = [replace(hit, score=score) for hit, score in zip(hits(*texts), scores, strict=False)]
    found = diversify(given, mmr=mmr, collapse=collapse)
    assert found == diversify(given, mmr=mmr, collapse=collapse)
    named = [hit.chunk_id for hit in found]
    named += [one.chunk_id for hit in found for one in hit.duplicates]
    assert sorted(map(str, named)) == sorted(str(hit.chunk_id) for hit in given)
    assert {hit.source: hit.content for hit in found}.items() <= {
        hit.source: hit.content for hit in given
    }.items()
    if given and (mmr is None or mmr == 1):
        # A better hit may be the duplicate of an earlier one, and go.
        best = max(found, key=lambda hit: hit.score) if mmr else given[0]
        assert found[0].chunk_id == best.chunk_id
