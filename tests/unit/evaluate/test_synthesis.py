"""Questions made from chunks: always the same, of every kind, harder from kind to kind."""

from __future__ import annotations

import random

import pytest

from ragpg.errors import ConfigError
from ragpg.evaluate.gold import GoldDocuments, GoldSpans
from ragpg.evaluate.paraphrase import (
    key_phrase,
    key_sentence,
    other_form,
    reworded,
    synonym,
    with_words_left_out,
)
from ragpg.evaluate.synthesis import KINDS, questions_of
from ragpg.queries import KnownItem

TEXT = (
    "Maintenance is boring. The autovacuum launcher starts several workers that remove dead tuples "
    "from large tables before the transaction counter wraps around. It costs some memory."
)
TERMS = ["autovacuum", "launcher", "tuples", "wraps", "workers", "transaction", "counter", "dead", "tables", "memory", "maintenance", "costs"]  # fmt: skip
ITEM = KnownItem("vacuum.md", 7, 100, 100 + len(TEXT), TEXT, TERMS,
                 [2, 2, 9, 1, 12, 40, 5, 9, 80, 30, 11, 25])  # fmt: skip


def test_a_chunk_gives_one_question_of_each_kind() -> None:
    questions = questions_of([ITEM])
    assert [one.kind for one in questions] == list(KINDS)
    assert len({one.id for one in questions}) == len(questions)
    assert {one.group for one in questions} == {"vacuum.md@100"}
    by_kind = {one.kind: one for one in questions}
    assert by_kind["keywords"].text == "autovacuum launcher tuples wraps workers transaction"
    vague = by_kind["vague"].text.split()
    assert sorted(vague) == ["costs", "maintenance", "memory", "tables", "transaction", "workers"]
    assert by_kind["question"].text.endswith("?")
    assert "autovacuum" in by_kind["question"].text
    assert not by_kind["keywords"].history
    [before] = by_kind["follow-up"].history
    assert "autovacuum" in before
    assert "autovacuum" not in by_kind["follow-up"].text
    assert by_kind["keywords"].gold == by_kind["reworded"].gold
    gold = by_kind["keywords"].gold
    assert isinstance(gold, GoldSpans)
    [shown] = gold.evidence
    assert TEXT[shown.start - 100 : shown.end - 100].startswith("The autovacuum launcher")


def test_the_same_corpus_gives_the_same_questions() -> None:
    assert questions_of([ITEM], seed=4) == questions_of([ITEM], seed=4)
    assert questions_of([ITEM], seed=4) != questions_of([ITEM], seed=5)
    [alone] = questions_of([ITEM], kinds=["excerpt"])
    assert alone in questions_of([ITEM]), "leaving kinds out changes no question"


def test_a_kind_that_a_text_cannot_give_is_left_out() -> None:
    item = KnownItem("a", 1, None, None, "Too short.", ["short"], [1])
    assert questions_of([item]) == []
    item = KnownItem("a", 1, None, None, "Too short.", TERMS, ITEM.documents)
    assert [one.kind for one in questions_of([item])] == ["keywords", "vague"]
    assert isinstance(questions_of([item])[0].gold, GoldDocuments)
    with pytest.raises(ConfigError, match="riddle"):
        questions_of([ITEM], kinds=["riddle"])


def test_the_key_sentence_holds_the_telling_words() -> None:
    weights = dict.fromkeys(TERMS, 1.0)
    span = key_sentence(TEXT, weights)
    assert span is not None
    assert TEXT[slice(*span)].startswith("The autovacuum launcher")
    assert key_sentence("One two three.", weights) is None
    assert key_phrase("the size of the launcher of the past", {"launcher": 1.0, "size": 1.0}) == (
        "size of the launcher"
    )


def test_words_are_left_out_and_changed_but_never_invented_ones() -> None:
    sentence = "The launcher starts several workers that remove dead tuples from large tables"
    shorter = with_words_left_out(sentence, random.Random(1))
    assert set(shorter.split()) < set(sentence.split())
    other = reworded(sentence, ["launcher"], random.Random(1))
    assert "launcher" not in other
    assert "begins" in other
    assert "delete" in other


@pytest.mark.parametrize(
    ("word", "other"),
    [("remove", "delete"), ("removes", "deletes"), ("removed", "deleted"), ("starts", "begins"),
     ("searches", "looks"), ("making", "building"), ("tuple", None)],
)  # fmt: skip
def test_a_synonym_keeps_the_form(word: str, other: str | None) -> None:
    assert synonym(word) == other


@pytest.mark.parametrize(
    ("word", "other"),
    [("queries", "query"), ("tables", "table"), ("relation", "relations"), ("process", "process"),
     ("density", "densities"), ("explicit", "explicit"), ("data", "data")],
)  # fmt: skip
def test_only_nouns_change_their_number(word: str, other: str) -> None:
    assert other_form(word) == other
