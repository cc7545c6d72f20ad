"""Dropped claims: what introduced a list or table that lost everything goes too, nothing else."""

from __future__ import annotations

import pytest

from ragpg.query.claims import extract_claims
from ragpg.query.emptied import emptied
from ragpg.query.verdict_marks import mark_answer
from ragpg.types import Claim, Grounding


def dropped(text: str, weak: str = "weak") -> str:
    """The text without the claims that have this word in them."""
    claims = [
        Claim(one.text, one.start, one.end, "unsupported" if weak in one.text else "supported", 0.5)
        for one in extract_claims(text)
    ]
    assert any(claim.verdict == "unsupported" for claim in claims)
    return mark_answer(Grounding(text, claims, 0.5), "drop")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "Refunds are free. The options are:\n\n- weak plan one\n- weak plan two\n\nCall the desk.",
            "Refunds are free.\n\nCall the desk.",
        ),
        (
            "We sell shoes.\n\n**The options are** [1]:\n1. weak plan one\n2. weak plan two\n   of"
            " more weak days\n\nShoes are returned.",
            "We sell shoes.\n\nShoes are returned.",
        ),
        (
            "Shoes are sold here.\n\nThe options\nare these:\n* weak plan one",
            "Shoes are sold here.",
        ),
        (
            "The plans cost money. Prices:\n\n| plan | price |\n|---|--:|\n| weak plan | 5 EUR |\n\n"
            "Prices hold for years.",
            "The plans cost money.\n\nPrices hold for years.",
        ),
        (
            "Everything is here:\n- First group:\n  - weak plan one\n  - weak plan two\n\nIt is sold.",
            "It is sold.",
        ),
        ("我们卖鞋子，鞋子很好。选项：\n- weak 计划一号", "我们卖鞋子，鞋子很好。"),
        ("> The options are:\n> - weak plan one\n\nShoes are sold.", "Shoes are sold."),
    ],
)
def test_a_lead_in_goes_with_the_last_entry(text: str, left: str) -> None:
    assert dropped(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "The options are:\n- weak plan one\n- a good plan",
            "The options are:\n- a good plan",
        ),
        (
            "Everything is here:\n- First group:\n  - weak plan one\n- Second group:\n  - good plan",
            "Everything is here:\n- Second group:\n  - good plan",
        ),
        (
            "Prices:\n\n| plan | price |\n|---|--:|\n| weak plan | 5 EUR |\n| good plan | 6 EUR |",
            "Prices:\n\n| plan | price |\n|---|--:|\n| good plan | 6 EUR |",
        ),
        # A block of code is no list, and a question after a list is no part of it.
        (
            "A weak plan is sold. Run this:\n\n```\n- weak plan\n```",
            "Run this:\n\n```\n- weak plan\n```",
        ),
        (
            "The options are:\n- a good plan:\n- weak plan one\n\nShall I go on?",
            "The options are:\n- a good plan:\n\nShall I go on?",
        ),
        # What a paragraph says below is no list that was emptied.
        (
            "The answer:\n\nA weak plan is sold. A good plan is sold.",
            "The answer:\n\nA good plan is sold.",
        ),
        ("## Plans\n\n- weak plan one\n\nShoes are sold.", "## Plans\n\nShoes are sold."),
    ],
)
def test_whatever_has_something_left_below_stays(text: str, left: str) -> None:
    assert dropped(text) == left


def test_a_long_answer_of_emptied_lists_takes_no_time_of_its_own() -> None:
    text = "\n\n".join(f"The options of {n} are:\n- weak plan {n}" for n in range(2000))
    spans = [(at, at + 4) for at in range(len(text)) if text.startswith("weak", at)]
    assert emptied(text, spans) == []  # "plan 1" is left
    assert len(emptied(text, [(one.start, one.end) for one in extract_claims(text)])) == 2000


@pytest.mark.parametrize("mark", ["-", "*", "1.", "(1)"])
def test_a_list_of_one_item_is_no_part_of_its_lead_in(mark: str) -> None:
    text = f"The options are:\n{mark} a plan of ours"
    assert [one.text for one in extract_claims(text)] == ["a plan of ours"]


@pytest.mark.parametrize("before", ["", "Refunds take 14 days. ", "A good start is made.\n\n"])
@pytest.mark.parametrize("mark", ["{}:", "{} [1]:", "**{}:**", "**{}** [1]:", "{}："])
@pytest.mark.parametrize(
    "entries",
    [
        "\n- weak gold paper costs 55 dollars.\n- weak silver paper costs 44 dollars.",
        "\n\n1. weak gold paper\n2. weak silver paper",
        "\n\n| paper | price |\n|---|---|\n| weak gold | 55 |\n| weak silver | 44 |",
    ],
)
def test_a_lead_in_that_is_weak_itself_takes_nothing_else_along(
    before: str, mark: str, entries: str
) -> None:
    lead = mark.format("The weak wrapping has three colours")
    last = "The money goes back to the card that paid."
    left = dropped(f"{before}{lead}{entries}\n\n{last}")
    assert left.endswith(last)
    assert left.startswith(before.strip())
    assert "weak" not in left
