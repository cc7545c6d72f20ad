"""Pieces for sentence vectors: all of the text, none too short or too long, and not too many."""

from __future__ import annotations

import itertools
import random

import pytest

from ragpg.sentence_units import LONGEST, MOST, SHORTEST, sentence_units

PROSE = "Refunds are paid within fourteen days of the return. See the terms. They are short. Keep the receipt of the purchase for it."


def test_sentences_are_the_pieces_and_short_ones_join() -> None:
    assert [PROSE[a:b] for a, b in sentence_units(PROSE)] == [
        "Refunds are paid within fourteen days of the return.",
        "See the terms. They are short. Keep the receipt of the purchase for it.",
    ]


@pytest.mark.parametrize("text", ["", "  \n", "\n\n\n"])
def test_a_blank_text_has_none(text: str) -> None:
    assert sentence_units(text) == []


def test_a_short_text_is_one_piece() -> None:
    assert sentence_units(" 3. ") == [(1, 3)]


def test_code_without_an_end_is_cut_at_lines() -> None:
    code = "\n".join(f"    total_{n} = compute(value_{n}, other)" for n in range(60))
    units = sentence_units(code)
    assert len(units) > 5
    assert all(b - a <= LONGEST for a, b in units[:-1])
    assert all(code[a:b].startswith("total_") for a, b in units)


def test_a_word_without_blanks_is_cut_anyway() -> None:
    units = sentence_units("x" * 2000)
    assert "".join("x" * (b - a) for a, b in units) == "x" * 2000
    assert len(units) == 5


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_whatever_the_text(seed: int) -> None:
    pick = random.Random(seed)
    words = [
        "refund",
        "the",
        "x" * 900,
        "1.5",
        "Dr.",
        "end.",
        "\n\n",
        "\n",
        "京都大学。",
        "!?",
        "é\u0301",
    ]
    text = " ".join(pick.choice(words) for _ in range(pick.randrange(1, 1500)))
    units = sentence_units(text)
    assert len(units) <= MOST
    assert all(a < b for a, b in units)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(units))
    kept = "".join(text[a:b] for a, b in units)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(b - a >= SHORTEST for a, b in units) or len(units) == 1


def test_a_long_text_has_longer_pieces() -> None:
    text = "A sentence of about fifty characters stands here. " * 500
    units = sentence_units(text)
    assert len(units) <= MOST
    assert max(b - a for a, b in units) < 3 * len(text) / MOST
