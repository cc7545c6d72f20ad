"""Reranking by a chat model: grades are found in any answer that has them, the rest changes nothing."""

from __future__ import annotations

import asyncio
import json

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.perform import perform_rerank
from ragpg.rerankers.chain import rerank_hits
from ragpg.rerankers.grades import read_grades
from ragpg.rerankers.llm import LLMReranker
from ragpg.steps import run
from ragpg.testing import ScriptedGenerator

from .hits import FRUITS, hits_of, texts_of


@pytest.mark.case("RE-01")
@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (
            "Passage: 4, Score: 9\nPassage: 2, Score: 7\n\n"
            "In short, Passage: 4 is best, since it names the part.",
            False,
        ),
        ("Passage: 4, Score: 9 (mentions drums, twice)\nPassage: 2, Score: 7 (so-so)", False),
        (
            'Sure! Here is the JSON:\n```json\n[{"id": 4, "score": 9}, {"id": 2, "score": 7}]\n'
            "```\nHope it helps.",
            True,
        ),
        ('[{"id": 4, "score": 9}, {"id": 2, "score": 7},', True),
        ('{"4": 0.9, "2": "0.7"}', True),
    ],
)
def test_noise_around_the_grades_does_not_matter_re_01(answer: str, read: bool) -> None:
    hits = hits_of(*FRUITS)
    done = run(rerank_hits(LLMReranker(ScriptedGenerator(answer)), "q", hits), perform_rerank)
    if read:
        assert texts_of(done.hits) == ["drums", "bolts", "apples", "cranes", "eels"]
        assert done.report["rerank"].error is None
    else:
        assert done.hits == hits
        assert "no grades" in (done.report["rerank"].error or "")


@pytest.mark.case("RE-02")
@pytest.mark.parametrize(
    "answer",
    [
        "None of the passages relates to this, therefore no document is relevant.",
        "I cannot help with that.",
        "",
        "null",
        "<think>maybe 3, maybe 4</think>",
        '<think>[{"id": 3, "score": 9}]</think> None.',
        "[]",
        '{"scores": []}',
    ],
)
def test_an_answer_without_grades_changes_nothing_re_02(answer: str) -> None:
    hits = hits_of(*FRUITS)
    done = run(rerank_hits(LLMReranker(ScriptedGenerator(answer)), "hello", hits), perform_rerank)
    assert done.hits == hits
    assert {hit.score_kind for hit in done.hits} == {"fused"}
    assert "no grades" in (done.report["rerank"].error or "")


BRACES = (
    "set {1;2;3} and {name} and {{x}} and {0} and {",
    'JSON {"a": {"b": 1}} and LaTeX \\frac{a}{b} and ${HOME} and %(x)s',
)


@pytest.mark.case("RE-05")
def test_braces_reach_the_model_as_they_are_re_05() -> None:
    generator = ScriptedGenerator('[{"id": 2, "score": 9}]')
    after = LLMReranker(generator).rerank("what is {name}?", hits_of(*BRACES))
    assert texts_of(after) == list(reversed(BRACES))
    [[_, user]] = generator.requests
    for text in (*BRACES, "what is {name}?"):
        assert text in user["content"]


@pytest.mark.parametrize(
    ("answer", "grades"),
    [
        (
            '{"scores": [{"passage": "2", "grade": 8.5}, {"passage": 1, "relevance": "3"}]}',
            {2: 8.5, 1: 3},
        ),
        ('[{"id": 2, "score": 8}, {"id": 2, "score": 1}, {"id": 9, "score": 9}]', {2: 8}),
        ('[{"id": 0, "score": 8}, {"id": -1, "score": 8}, {"id": 1.5, "score": 8}]', {}),
        ('[{"id": 1, "score": NaN}, {"id": 2, "score": 11}, {"id": 3, "score": true}]', {}),
        ('[{"id": true, "score": 8}, {"id": 3, "score": null}, {"id": 2}]', {}),
        ("[" * 5000, {}),
        ('[[{"id": 1, "score": 4}]] and [{"id": 3, "score": 5}]', {1: 4, 3: 5}),
    ],
)
def test_only_grades_of_passages_that_were_sent_count(
    answer: str, grades: dict[int, float]
) -> None:
    assert read_grades(answer, 3) == grades


def test_passages_without_a_grade_keep_their_score_and_scale() -> None:
    generator = ScriptedGenerator('[{"id": 3, "score": 9}]')
    after = LLMReranker(generator).rerank("q", hits_of("a", "b", "c"))
    assert texts_of(after) == ["c", "a", "b"]
    assert [(hit.score, hit.score_kind) for hit in after] == [
        (9.0, "scripted grade"),
        (1.0, "fused"),
        (0.5, "fused"),
    ]


def test_many_passages_go_in_batches_and_only_the_first_are_graded() -> None:
    answers = [json.dumps({"1": 1, "2": 2}), json.dumps({"1": 3, "2": 0})]
    generator = ScriptedGenerator(answers)
    reranker = LLMReranker(generator, candidates=4, batch=2, temperature=0)
    after = reranker.rerank("q", hits_of("a", "b", "c", "d", "e"))
    assert texts_of(after) == ["c", "b", "a", "d", "e"]
    assert len(generator.requests) == 2
    again = asyncio.run(
        LLMReranker(ScriptedGenerator(answers), candidates=4, batch=2).arerank(
            "q", hits_of("a", "b", "c", "d", "e")
        )
    )
    assert again == after


def test_a_failing_model_is_an_exception() -> None:
    reranker = LLMReranker(ScriptedGenerator([ProviderError("the service is away")]))
    with pytest.raises(ProviderError, match="away"):
        reranker.rerank("q", hits_of("a"))
    with pytest.raises(ConfigError, match="1 or more"):
        LLMReranker(ScriptedGenerator("x"), batch=0)
