"""A thought at the beginning of an answer is none of it, in whatever pieces it comes."""

from __future__ import annotations

import pytest

from ragpg.query.thoughts import Spoken, spoken

CASES = [
    ("<think>41 days?</think>\n\nRefunds take 5 days.", "Refunds take 5 days."),
    (" \n<THINKING>\na <b> </b>\n</thinking> Refunds.", "Refunds."),
    ("<think></think>Refunds.", "Refunds."),
    ("<think>never closed", ""),
    ("Refunds <think>5</think> days.", "Refunds <think>5</think> days."),
    ("<thin ice> is cold", "<thin ice> is cold"),
    ("<thi", "<thi"),
    ("", ""),
    ("5\0 days \ud83d", "5 days "),
    ("５\0 Tage", "５ Tage"),
    ("  \n", "  \n"),
]


@pytest.mark.parametrize(("text", "said"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_in_pieces_as_whole(text: str, said: str, size: int) -> None:
    assert spoken(text) == said
    taken = Spoken()
    pieces = [taken.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + taken.end() == said


def test_halves_of_a_character_become_one() -> None:
    assert spoken("fine \ud83d\ude00") == "fine \U0001f600"


def test_what_is_not_held_back_comes_at_once() -> None:
    taken = Spoken()
    assert [taken.feed(piece) for piece in ("Re", "funds ", "<", "x>")] == [
        "Re",
        "funds ",
        "<",
        "x>",
    ]
    assert taken.end() == ""
