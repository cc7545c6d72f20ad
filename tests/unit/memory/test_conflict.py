"""Which facts take the place of others: every pair of pairs.tsv, by counts, and some one by one."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from ragpg.memory.conflict import state_keys, takes_the_place

PAIRS = Path(__file__).with_name("pairs.tsv")


def test_the_figures_of_the_decision_page_hold() -> None:
    """tuned pairs were looked at when the rules were made, those held out were not."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    with PAIRS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found = takes_the_place(row["newer"], row["older"]) is not None
            counts[row["set"], "update" if row["kind"] == "update" else "both hold", found] += 1
    assert counts == {
        ("tuned", "update", True): 28,
        ("tuned", "both hold", False): 36,
        ("held out", "update", True): 15,
        ("held out", "update", False): 9,
        ("held out", "both hold", False): 27,
        ("held out", "both hold", True): 1,
    }


@pytest.mark.parametrize(
    ("newer", "older", "reason"),
    [
        ("I moved to Hamburg.", "I live in Berlin.",
         "residence of user: 'hamburg' stands where 'berlin' stood"),
        ("I left Acme.", "I work for Acme.", "'acme' is over"),
        ("The deadline is Monday.", "The deadline is Friday.",
         "deadline: 'monday' stands where 'friday' stood"),
    ],
)  # fmt: skip
def test_the_reason_names_what_changed(newer: str, older: str, reason: str) -> None:
    assert takes_the_place(newer, older) == reason


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("He lives in Hamburg.", "He lives somewhere in Berlin."),
        ("If I get the job, I move to Hamburg.", "I live in Berlin."),
        ("I want to live in Hamburg.", "I live in Berlin."),
        ("I lived in Hamburg.", "I live in Berlin."),
        ("Anna lives in Berlin and likes coffee.", "Anna lives in Berlin and likes tea."),
        ("I sometimes work for Globex.", "I work for Acme."),
        ("My mother lives in Hamburg and I live in Berlin.", "I live in Berlin."),
        ("Does the user live in Hamburg?", "The user lives in Berlin."),
    ],
)
def test_wishes_the_past_and_others_change_nothing(newer: str, older: str) -> None:
    assert takes_the_place(newer, older) is None


def test_texts_of_one_state_share_a_key_whatever_their_words() -> None:
    assert state_keys("I live in Berlin.") == ["user: residence"]
    assert state_keys("The user has relocated to Hamburg.") == ["user: residence"]
    assert state_keys("The weather is fine.") == []


@pytest.mark.parametrize(
    "text",
    ["", " ", "a " * 50_000, "I live in " * 5_000, "my " * 30_000 + "is", "'" * 20_000,
     "I live in Berlin, " * 3_000, "x" * 100_000, "is " * 20_000, "\x00 is \ud800", "用户住在柏林。"],
)  # fmt: skip
def test_any_text_is_read_in_no_time(text: str) -> None:
    """Backtracking would take hours here."""
    assert takes_the_place(text[:3000], "I live in Berlin.") is None or "Berlin" in text
    state_keys(text)
