"""Folding, stemming, quotes and sentences."""

from __future__ import annotations

import itertools

import pytest

from ragpg.sentences import split_sentences
from ragpg.words import content_words, find_quote, fold, stem, words


def test_folding_removes_what_a_reader_does_not_type() -> None:
    assert fold("ﬁrst École Straße １２") == "first ecole strasse 12"
    assert fold("Donau\u00ad\ndampfer und Wasser\u00adkraft") == "donaudampfer und wasserkraft"


@pytest.mark.parametrize(
    "forms",
    [("rotate", "rotates", "rotated", "rotating"), ("policy", "policies"), ("plan", "planned")],
)
def test_inflected_forms_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_words_of_code_and_of_scripts_without_blanks() -> None:
    assert words("writeBoolean read_file") == ["writ", "boolean", "read", "fil"]
    assert words("日本語 text 好") == ["日本", "本語", "text", "好"]
    assert content_words("What is the fee?") == ["fee"]


@pytest.mark.case("KW-10")
def test_a_quote_typed_with_plain_letters_is_found_kw_10() -> None:
    text = "The ﬁrst classiﬁcation is suﬃcient."
    for quote in ("The first classification", "sufficient", "is sufficient."):
        found = find_quote(quote, text)
        assert found is not None
        assert fold(text[slice(*found)]) == fold(quote)
    text = "Donau\u00ad\ndampfer  und\nWasser\u00adkraft"
    assert find_quote("Donaudampfer und Wasserkraft", text) == (0, len(text))
    assert find_quote("second classification", text) is None
    assert find_quote("...", text) is None


@pytest.mark.case("CH-09")
def test_sentences_end_where_a_reader_ends_them_ch_09() -> None:
    text = (
        "Dr. Ada set it to 3.14 (v1.2.3) at 10.0.0.1, e.g. for tests. Use config.toml. The U.S. "
        "site, i.e. us-east-1, costs $1.50 per hr. See Sec. 4.2 ... and wait. Is it done? Yes!"
    )
    sentences = [text[start:end] for start, end in split_sentences(text)]
    assert [one.split()[-1] for one in sentences] == [
        "tests.",
        "config.toml.",
        "hr.",
        "wait.",
        "done?",
        "Yes!",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Keys rotate. [1] Then they end [2]. Done.[3]", 3),
        ("**Bold claim.** Another one.", 2),
        ('"Quoted one." He left.', 2),
        ("First\n- one\n- two", 3),
        ("他说。你好！再见", 3),
        ("A lone \ud83d half. Next one.", 2),
        ("", 0),
        (" \n\n ", 0),
    ],
)
def test_sentences_have_exact_offsets(text: str, expected: int) -> None:
    spans = split_sentences(text)
    assert len(spans) == expected
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())


def test_a_line_of_asterisks_ends_soon() -> None:
    # As comments in C begin and end; parted in all ways it would take longer than anybody lives.
    text = "Plain...\n" + "*" * 200 + "/\nNext sentence. Last **one**.** Done."
    spans = split_sentences(text)
    assert "".join(text[start:end] for start, end in spans).count("*") == text.count("*")
