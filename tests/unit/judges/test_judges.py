"""Judges behind one protocol: what each says, and who stands in when one fails."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.judges.embedding import EmbeddingJudge
from ragpg.judges.lexical import LexicalJudge
from ragpg.judges.llm import LLMJudge
from ragpg.judges.verdicts import read_verdicts
from ragpg.judges.veto import VetoJudge
from ragpg.query.ground import ground, ground_flow
from ragpg.steps import arun, run
from ragpg.testing import ScriptedGenerator
from ragpg.types import Hit, Judgement, Pair

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = "Keys rotate every 90 days. Backups are kept for 30 days."


def hit(text: str, source: str = "a.md") -> Hit:
    return Hit(1, 1.0, "default", source, text)


class Fixed:
    """Gives the judgements it was made with."""

    name = "fixed"
    candidates = 1

    def __init__(self, *judgements: Judgement | None, error: Exception | None = None) -> None:
        self.judgements = judgements
        self.error = error
        self.seen: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement | None]:
        self.seen = list(pairs)
        if self.error is not None:
            raise self.error
        return list(self.judgements)


def test_a_judge_gets_claims_without_markers_and_its_verdict_counts() -> None:
    judge = Fixed(Judgement("contradicted", 0.1, ["no"]))
    found = ground("Keys rotate every 90 days [1].", [hit(KEYS)], judge)
    assert judge.seen[0].claim.strip(" .") == "Keys rotate every 90 days"
    assert judge.seen[0].evidence == "Keys rotate every 90 days."
    (claim,) = found.claims
    assert (claim.verdict, claim.judge, list(claim.reasons)) == ("contradicted", "fixed", ["no"])
    assert found.judge == "fixed"
    assert not found.notes


@pytest.mark.parametrize(
    "judge",
    [
        Fixed(error=ProviderError("out of reach")),
        Fixed(),
        Fixed(None),
    ],
)
def test_the_lexical_judge_stands_in_for_one_that_fails(judge: Fixed) -> None:
    found = ground("Keys rotate every 90 days [1].", [hit(KEYS)], judge)
    assert [claim.verdict for claim in found.claims] == ["supported"]
    assert [claim.judge for claim in found.claims] == ["lexical"]
    (note,) = found.notes
    assert "lexical" in note
    assert "fixed" in note


def _perform(step: Any) -> Any:
    """What the drivers of the clients do, for the steps of judges."""
    name = type(step).__name__
    if name == "Call":
        return step.function(*step.arguments)
    if name == "Embed":
        return step.embedder.embed_documents(step.texts)
    return step.generator.generate(step.messages, **step.options)


async def _aperform(step: Any) -> Any:
    return _perform(step)


class Axes:
    """Texts on three axes: with "rotate", with "turned", others."""

    model = "axes"
    dimensions = 3

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [
            [1.0, 0.0, 0.0]
            if "rotate" in text
            else [0.8, 0.6, 0.0]
            if "turned" in text
            else [0.0, 0.0, 1.0]
            for text in texts
        ]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_embeddings_find_what_shares_no_word_and_figures_veto_them() -> None:
    plain = EmbeddingJudge(Axes())
    right = "A fresh secret is turned in each 90 days."
    assert ground(right, [hit(KEYS)]).claims[0].verdict != "supported"
    assert ground(right, [hit(KEYS)], plain).claims[0].verdict == "supported"
    assert ground(right, [hit(KEYS)], plain).claims[0].support == pytest.approx(0.8)
    wrong = "A fresh secret is turned in each 40 days."
    assert ground(wrong, [hit(KEYS)], plain).claims[0].verdict == "supported"
    held = ground(wrong, [hit("Keys rotate every 90 days.")], VetoJudge(plain))
    assert held.claims[0].verdict == "contradicted"
    assert "40 days" in held.claims[0].reasons[0]


def test_flow_and_function_say_the_same_in_sync_and_async() -> None:
    answer = "A fresh secret is turned in each 40 days. Keys rotate every 90 days."
    for judge in (None, LexicalJudge(), EmbeddingJudge(Axes()), VetoJudge(EmbeddingJudge(Axes()))):
        expected = ground(answer, [hit(KEYS)], judge)
        assert run(ground_flow(answer, [hit(KEYS)], judge), _perform) == expected
        assert asyncio.run(arun(ground_flow(answer, [hit(KEYS)], judge), _aperform)) == expected
    failing = Fixed(error=ProviderError("gone"))
    assert run(ground_flow(answer, [hit(KEYS)], failing), _perform).notes


def test_a_chat_model_judges_in_batches_and_gaps_go_to_the_lexical_judge() -> None:
    said = json.dumps([{"id": 1, "verdict": "contradicted", "confidence": 0.8, "reason": "90"}])
    generator = ScriptedGenerator([f"Here:\n```json\n{said}\n```"])
    judge = LLMJudge(generator, candidates=1)
    found = ground("Keys rotate every 90 days. Backups are kept for 30 days.", [hit(KEYS)], judge)
    assert [claim.verdict for claim in found.claims] == ["contradicted", "supported"]
    assert found.claims[0].support == pytest.approx(0.1)
    assert [claim.judge for claim in found.claims] == [judge.name, "lexical"]
    assert "1 of 2 pairs" in found.notes[0]
    silent = ground("Keys rotate every 90 days.", [hit(KEYS)], LLMJudge(ScriptedGenerator(["?"])))
    assert silent.claims[0].verdict == "supported"
    assert "gave no verdicts" in silent.notes[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[{"id": 1, "verdict": "Supported"}, {"id": 2, "verdict": "NOT_SUPPORTED"',
            {1: "supported"},
        ),
        ('{"results": [{"pair": "2", "label": "refutes"}]}', {2: "contradicted"}),
        ('{"id":1,"verdict":"partial"}\n{"id":1,"verdict":"supported"}', {1: "partial"}),
        ('<think>[{"id": 1, "verdict": "supported"}]</think> none', {}),
        ('[{"id": 9, "verdict": "supported"}, {"id": true, "verdict": "supported"}]', {}),
        ('[{"id": 1, "verdict": 7}, {"id": 1, "verdict": "maybe"}]', {}),
        ("[" * 3000, {}),
    ],
)
def test_verdicts_are_read_out_of_anything(text: str, expected: dict[int, str]) -> None:
    found = read_verdicts(text, 3)
    assert {number: one.verdict for number, one in found.items()} == expected
    assert all(0 <= one.support <= 1 for one in found.values())


def test_a_claim_names_every_source_that_supports_it_and_two_may_share_it() -> None:
    same = [hit("Keys rotate every 90 days."), hit("All our keys rotate every 90 days.", "b.md")]
    (claim,) = ground("Keys rotate every 90 days [1][2].", same).claims
    assert [piece.number for piece in claim.evidence] == [1, 2]
    assert [check.state for check in claim.citations] == ["right", "right"]
    parts = [
        hit("The red lamp means a full disk."),
        hit("A green lamp means an idle pump.", "b.md"),
    ]
    (both,) = ground("Red lamp full disk, green lamp idle pump.", parts).claims
    assert both.verdict == "supported"
    assert {piece.number for piece in both.evidence} == {1, 2}


def test_each_citation_is_held_against_its_source() -> None:
    hits = [hit("Keys rotate every 90 days."), hit("Lunch is served at noon.", "b.md")]
    answer = "Keys rotate every 90 days [2][1][7].\n\nLunch is served at noon."
    keys, lunch = ground(answer, hits).claims
    assert [(one.number, one.state) for one in keys.citations] == [
        (2, "wrong source"),
        (1, "right"),
        (7, "out of range"),
    ]
    assert [(one.number, one.state) for one in lunch.citations] == [(None, "missing")]
    together = "Keys rotate every 90 days. Lunch is served at noon [1][2]."
    assert not ground(together, hits).claims[0].citations


def test_thresholds_must_be_in_order() -> None:
    with pytest.raises(ConfigError, match="above supported"):
        LexicalJudge(supported=0.2, partial=0.5)
