"""The context block, its budget, and the prompt around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragpg.errors import ConfigError
from ragpg.query.context import build_context
from ragpg.query.prompt import Prompt, is_refusal, refusal
from ragpg.query.shorten import cut
from ragpg.tokens import estimate_tokens, token_counter
from ragpg.types import ArmHit, Hit, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def hit(text: str, source: str = "guide.md", **more: object) -> Hit:
    base = Hit(1, 1.0, "default", source, text, start_line=3, end_line=9, breadcrumb="Guide > Use")
    return replace(base, **more)  # type: ignore[arg-type]


def test_numbers_sources_as_the_citations_do() -> None:
    context = build_context([hit("one"), hit("two", "b.pdf", page=4, breadcrumb="")])
    assert context.text == (
        "Sources (cite as [n]):\n\n"
        "[1] guide.md (lines 3-9) Guide > Use\none\n\n"
        "[2] b.pdf (page 4, lines 3-9)\ntwo"
    )
    assert [(one.number, one.hit.content) for one in context.citations] == [(1, "one"), (2, "two")]
    assert context.tokens == estimate_tokens(context.text)


@pytest.mark.parametrize("budget", [0, 1, 10, 25, 40, 80, 200, 1000, 10_000])
@pytest.mark.parametrize("counter", [None, len, lambda text: len(text.split())])
def test_the_budget_is_never_exceeded_and_the_best_stay(budget: int, counter: object) -> None:
    hits = [hit(f"Sentence {n} is here. It has a second part. " * 9) for n in range(8)]
    context = build_context(hits, budget=budget, count_tokens=counter)  # type: ignore[arg-type]
    count = counter or estimate_tokens
    assert count(context.text) <= budget  # type: ignore[operator]
    assert [one.number for one in context.citations] == list(range(1, len(context.citations) + 1))
    assert context.dropped + len(context.citations) == len(hits)
    for citation in context.citations:
        assert hits[citation.number - 1].content.startswith(citation.hit.content)


def test_a_too_long_best_hit_is_cut_at_a_sentence() -> None:
    text = "Dr. Ada set it to 3.14.\nIt works well. The third sentence is longer than the others."
    context = build_context([hit(text, start_char=100, end_char=100 + len(text))], budget=60)
    assert context.truncated
    assert context.citations[0].hit.content == "Dr. Ada set it to 3.14.\nIt works well."
    assert context.citations[0].hit.end_char == 138
    assert build_context([hit("word " * 100)], budget=40).citations[0].hit.content.endswith("word")


def halves(hits: Sequence[Hit]) -> list[Hit]:
    return [cut(one, 0, len(one.content) // 2) for one in hits]


def test_the_worst_hits_are_shortened_before_any_is_dropped() -> None:
    hits = [hit(f"{n} word word word. " * 10) for n in range(4)]
    whole = build_context(hits)
    context = build_context(hits, budget=whole.tokens - 10, shorten=halves)
    assert (context.dropped, context.shortened) == (0, 1)
    assert [one.hit.content == h.content for one, h in zip(context.citations, hits, strict=True)] == [
        True, True, True, False,
    ]  # fmt: skip
    # Where the short forms do not fit either, the best keep their whole text as far as it goes.
    tight = build_context(hits, budget=whole.tokens // 3, shorten=halves)
    assert tight.dropped == 2
    assert [one.number for one in tight.citations] == [1, 2]
    assert build_context(hits, shorten=halves).shortened == 0


counters = st.sampled_from(
    [
        None,
        len,
        lambda text: len(text.split()),
        lambda text: len(text.encode()),
        token_counter("gpt-4o"),
    ]
)


@settings(deadline=None)
@given(
    texts=st.lists(st.text("ab. \n猫👩‍💻<|é1", max_size=60), max_size=8),
    budget=st.integers(0, 400),
    counter=counters,
    short=st.sampled_from([None, halves]),
)
def test_no_budget_is_exceeded_by_any_counter(
    texts: list[str], budget: int, counter: Callable[[str], int] | None, short: Any
) -> None:
    hits = [
        hit(text, start_char=5, end_char=5 + len(text), start_line=1, end_line=1 + text.count("\n"))
        for text in texts
    ]
    context = build_context(hits, budget=budget, count_tokens=counter, shorten=short)
    count = counter or estimate_tokens
    assert count(context.text) <= budget or not context.text
    assert context.tokens == (count(context.text) if context.text else 0)
    assert context.dropped + len(context.citations) == len(hits)
    assert [one.number for one in context.citations] == list(range(1, len(context.citations) + 1))
    for citation in context.citations:
        shown = citation.hit
        assert shown.start_char is not None
        assert shown.end_char is not None
        assert (
            texts[citation.number - 1][shown.start_char - 5 : shown.end_char - 5] == shown.content
        )
        assert shown.content in context.text


def test_nothing_gives_nothing() -> None:
    assert build_context([]).text == ""
    assert build_context([hit("text")], budget=3).text == ""


def test_a_source_name_cannot_pose_as_another_source() -> None:
    context = build_context([hit("text", "a.md\n\n[2] trusted.md")])
    assert context.text.splitlines()[2].startswith("[1] a.md [2] trusted.md")


BRACES = [
    "set {1;2;3} and {name} and {{x}} and {0} and {",
    'JSON {"a": {"b": 1}} and LaTeX \\frac{a}{b} and ${HOME} and %(x)s {question} {context} \\1',
]


@pytest.mark.case("RE-05")
def test_braces_reach_the_model_byte_for_byte_re_05() -> None:
    context = build_context([hit(text) for text in BRACES])
    question = "What is {context} or {question} or {0}?"
    for template in ("{context}\n{question}", "A {x} {{y}} %s {context} B {question} C"):
        content = Prompt(template=template).messages(question, context.text)[1]["content"]
        assert context.text in content
        assert content.replace(context.text, "").count(question) == 1
        assert all(text in content for text in BRACES)
    assert "A {x} {{y}} %s " in content


def test_a_template_without_a_placeholder_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"\{question\}"):
        Prompt(template="{context}")


def test_refuses_on_weak_evidence_only() -> None:
    def result(query: str, *hits: Hit) -> SearchResult:
        return SearchResult(query, hits, {})

    assert refusal(result("x")) is not None
    far = hit("Cats sleep.", arms={"vector": ArmHit(1, 0.05)})
    near = hit("Felines doze.", arms={"vector": ArmHit(1, 0.6)})
    assert refusal(result("How are refunds paid?", far)) is not None
    assert refusal(result("How are refunds paid?", hit("Cats sleep."))) is not None
    assert refusal(result("How do cats rest?", near)) is None
    assert refusal(result("Do cats sleep?", hit("A cat sleeps."))) is None


@pytest.mark.case("EV-03")
def test_a_right_refusal_is_recognised_ev_03() -> None:
    assert is_refusal("I could not find this in the documents.")
    assert is_refusal("I don't know.")
    assert not is_refusal("Keys rotate every 90 days.")
