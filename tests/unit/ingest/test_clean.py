"""Cleaning at the gate."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.errors import LoadError
from ragpg.ingest.clean import clean_metadata, clean_name, clean_text, is_blank


@pytest.mark.case("LO-01")
def test_nul_and_controls_are_dropped_and_noted_lo_01() -> None:
    text, notes = clean_text("before\x00after \x00\x00 \x01\b control")
    assert text == "beforeafter   control"
    assert notes == ("3 NUL characters removed", "2 control characters removed")


@pytest.mark.case("LO-02")
def test_metadata_is_cleaned_at_every_depth_keys_included_lo_02() -> None:
    metadata, notes = clean_metadata(
        {"producer": "Acme Scanner 7\x00", "nested": {"k\x00ey": ["a\x00"]}}
    )
    assert metadata == {"producer": "Acme Scanner 7", "nested": {"key": ["a"]}}
    assert any("NUL" in note for note in notes)
    assert clean_name("Report\x00") == "Report"


@pytest.mark.case("LO-03")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good \ud83d bad", "good \ufffd bad"),
        ("\udcb2 raw byte", "\ufffd raw byte"),
        ("pair in order \ud83c\udf78 stays", "pair in order \U0001f378 stays"),
        ("reversed \udf78\ud83c", "reversed \ufffd\ufffd"),
    ],
)
def test_lone_surrogates_become_replacement_characters_lo_03(text: str, expected: str) -> None:
    assert clean_text(text)[0] == expected
    assert clean_metadata({"key": text})[0] == {"key": expected}
    assert clean_name(text) == expected


def test_line_ends_and_marks_and_composition() -> None:
    assert clean_text("\ufeffa\r\nb\rc e\u0301") == ("a\nb\nc \u00e9", ())
    assert clean_text("page\x0cnext")[0] == "page next"


def test_a_removed_control_lets_letter_and_accent_compose() -> None:
    assert clean_text("e\x00\u0301")[0] == "\u00e9"


@given(st.text(st.characters(codec=None, categories=None)))
def test_cleaning_keeps_its_promises_and_is_stable(text: str) -> None:
    cleaned, _ = clean_text(text)
    cleaned.encode("utf-8")
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(ord(char) < 32 and char not in "\t\n" for char in cleaned)
    assert "\ufeff" not in cleaned
    assert clean_text(cleaned) == (cleaned, ())


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u200b \ufeff", "\u2060\u00ad", "\u3000"])
def test_text_without_ink_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(text + ".")


@pytest.mark.case("FI-08")
def test_values_that_json_lacks_are_converted_fi_08() -> None:
    metadata, _ = clean_metadata(
        {
            "zoned": datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
            "day": date(2024, 2, 29),
            "price": Decimal("1.10"),
            "id": UUID(int=7),
            "tags": {2, 1},
            "mixed": {"b", 1, "a"},
            "big": 2**70,
            "pair": (1, 2),
            "nested": {1: {True: "yes", None: "no"}},
        }
    )
    assert metadata == {
        "zoned": "2024-02-29T12:30:00+00:00",
        "day": "2024-02-29",
        "price": "1.10",
        "id": "00000000-0000-0000-0000-000000000007",
        "tags": [1, 2],
        "mixed": [1, "a", "b"],
        "big": 2**70,
        "pair": [1, 2],
        "nested": {"1": {"true": "yes", "null": "no"}},
    }


@pytest.mark.case("FI-08")
@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), b"bytes", object(), 2**5000, {1: 0, "1": 0}],
    ids=["nan", "inf", "decimal-nan", "bytes", "object", "huge", "same-key"],
)
def test_values_without_a_form_are_refused_by_key_fi_08(value: Any) -> None:
    with pytest.raises(LoadError, match=r"metadata key 'outer\.list\[0\]") as caught:
        clean_metadata({"outer": {"list": [value]}})
    assert caught.value.hint


def test_metadata_that_refers_to_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    with pytest.raises(LoadError, match="levels"):
        clean_metadata(loop)


def test_shared_lists_that_unfold_without_end_are_refused() -> None:
    laughs: list[Any] = ["ha"]
    for _ in range(40):
        laughs = [laughs, laughs]
    with pytest.raises(LoadError, match="values"):
        clean_metadata({"laughs": laughs})
