"""Passages and compression: the stretch that answers, exact offsets, whole rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.query.compress import compress, compress_all, word_rarity
from ragpg.query.passages import split_passages
from ragpg.types import Hit
from ragpg.words import stem

FILLER = "The weather was mild that week. Nothing else was noted by the crew. "
TEXT = FILLER * 6 + "Refunds are paid within 14 days. The card that paid gets them. " + FILLER * 6


def hit(text: str, start: int = 100, line: int = 7) -> Hit:
    return Hit(
        1, 1.0, "n", "a.md", text, chunk_id=1, start_char=start, end_char=start + len(text),
        start_line=line, end_line=line + text.count("\n"),
    )  # fmt: skip


def test_the_stretch_around_the_words_of_the_query_stays() -> None:
    found = compress("how are refunds paid?", hit(TEXT), margin=1)
    assert "Refunds are paid within 14 days. The card that paid gets them." in found.content
    assert len(found.content) < 300
    assert found.start_char is not None
    assert TEXT[found.start_char - 100 :].startswith(found.content)
    assert found.end_char == found.start_char + len(found.content)


def test_lines_follow_the_text() -> None:
    text = "One is here.\n\nTwo is here.\n\nThe refund is paid.\n\nFour is here.\n\nFive is here."
    found = compress("refund", hit(text), margin=0, cost=0.01)
    assert found.content == "The refund is paid."
    assert found.lines == (11, 11)


@pytest.mark.parametrize(
    ("query", "text", "kept"),
    [
        ("返金はいつですか", "天気は晴れでした。何もありませんでした。返金は14日以内に支払われます。船は港を出ました。", "返金は14日以内に支払われます。"),
        ("退款支付时间", "天气很好。什么都没发生。退款在14天内支付。船离开了港口。", "退款在14天内支付。"),
        ("रिफंड कब मिलता है", "मौसम अच्छा था। कुछ नहीं हुआ। रिफंड 14 दिनों में मिलता है। जहाज चला गया।", "रिफंड 14 दिनों में मिलता है।"),
        ("متى يدفع المبلغ المسترد", "كان الطقس جميلا. لم يحدث شيء. يدفع المبلغ المسترد خلال 14 يوما. غادرت السفينة.", "يدفع المبلغ المسترد خلال 14 يوما."),
        ("คืนเงินเมื่อไหร่", "อากาศดี ไม่มีอะไร\n\nคืนเงินภายใน 14 วัน\n\nเรือออกจากท่า", "คืนเงินภายใน 14 วัน"),
        ("Wann wird erstattet?", "Das Wetter war gut. Es geschah z. B. nichts. Erstattet wird in 14 Tagen. Das Schiff fuhr ab.", "Erstattet wird in 14 Tagen."),
    ],
    ids=["ja", "zh", "hi", "ar", "th", "de"],
)  # fmt: skip
def test_sentences_of_many_languages(query: str, text: str, kept: str) -> None:
    assert compress(query, hit(text), margin=0, cost=0.02).content == kept


TABLE = "| plan | price |\n|---|---|\n| basic. small | 40 EUR. net |\n| large. big | 90 EUR. net |"
CODE = 'def refund(days: int) -> None:\n    """Pay. Back."""\n    for day in range(days):\n        pay(day)\n    return'


@pytest.mark.parametrize("text", [TABLE, CODE, f"```\n{CODE}\n```", f"Intro. Two.\n\n{TABLE}"])
@pytest.mark.parametrize("query", ["large price", "pay back", "basic", "days range", "intro"])
def test_rows_and_lines_of_code_stay_whole(text: str, query: str) -> None:
    found = compress(query, hit(text), margin=0, cost=0.01)
    lines = text.split("\n")
    if "Intro" not in found.content:
        assert all(line in lines for line in found.content.split("\n"))


def test_without_the_words_of_the_query_a_hit_stays_whole() -> None:
    for query in ("zebra", "", "?!", "the of"):
        assert (
            compress(query, hit("A b. C d. E f. G h. I j.")).content == "A b. C d. E f. G h. I j."
        )
    assert compress("refund", hit("")).content == ""


def test_rare_words_weigh_more() -> None:
    hits = [hit("The parcel is here. It is small. All is well. So it is. A crane lifts it.")]
    hits += [hit(f"The parcel number {n} is here.") for n in range(9)]
    rarity = word_rarity("parcel crane", hits)
    assert rarity[stem("crane")] > 3 * rarity["parcel"]
    assert "crane" in compress("parcel crane", hits[0], rarity=rarity, margin=0, cost=0.02).content
    assert [one.source for one in compress_all("parcel crane", hits)] == ["a.md"] * 10


texts = st.text(st.sampled_from("ab. \n|-`#猫。!?\t1é👩‍💻\u0e01{};()"), max_size=120)


@given(text=texts, query=texts, margin=st.integers(0, 2), cost=st.floats(0, 0.1))
def test_a_compressed_hit_is_the_document_at_its_offsets(
    text: str, query: str, margin: int, cost: float
) -> None:
    document = "x\n" * 50 + text
    found = compress(query, hit(text, 100, 51), margin=margin, cost=cost)
    assert found.start_char is not None
    assert found.end_char is not None
    assert document[found.start_char : found.end_char] == found.content
    assert found.start_line == document.count("\n", 0, found.start_char) + 1
    assert found.end_line == found.start_line + found.content.count("\n")


@given(text=texts)
def test_passages_are_in_order_and_lose_no_ink(text: str) -> None:
    at = 0
    for start, end in split_passages(text):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end].strip()
        at = end
    assert not text[at:].strip()
