"""What a chat model costs as judge: in the answer, and in the table of costs, however it asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.judges.llm import LLMJudge
from ragpg.judges.veto import VetoJudge
from ragpg.observe.ledger import usage_of
from ragpg.testing import HashEmbedder, ScriptedGenerator
from ragpg.types import Done, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg import Answer, Client
    from ragpg.types import AnswerEvent, Judgement, Pair

QUESTION = "How long do refunds take?"
GOOD = "Refunds take 5 working days [1]."
VERDICT = '[{"id": 1, "verdict": "supported"}]'
#: USD of a million tokens, by ragpg/prices.toml.
CHECKER = (2.5, 10.0)


class Plain:
    """A judge without steps: it asks its chat model by itself."""

    name = "plain"

    def __init__(self, inner: LLMJudge) -> None:
        self.inner = inner

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement | None]:
        return self.inner.judge(pairs)


def options(kind: str, verdict: str = VERDICT) -> dict[str, Any]:
    """A writer and a checker; by the name "llm" the writer checks itself."""
    if kind == "llm":
        both = ScriptedGenerator([GOOD, verdict], model="gpt-4o")
        return {"judge": "llm", "generator": both}
    checker = LLMJudge(ScriptedGenerator(verdict, model="gpt-4o"))
    judges = {"flow": checker, "plain": Plain(checker), "veto": VetoJudge(checker)}
    return {"judge": judges[kind], "generator": ScriptedGenerator(GOOD, model="gpt-4o-mini")}


def connected(database: str) -> Client:
    settings = ragpg.Settings(usage=True)
    return ragpg.connect(database, embedder=HashEmbedder(32), settings=settings)


def last(events: Sequence[AnswerEvent]) -> Answer:
    assert isinstance(events[-1], Done)
    return events[-1].answer


def booked(database: str) -> list[tuple[int, int, int]]:
    """Requests and tokens of grounding in the table of costs."""
    with connected(database) as rag:
        return [
            (row.requests, row.input_tokens, row.output_tokens)
            for row in rag.run(usage_of())
            if row.category == "grounding"
        ]


@pytest.mark.parametrize("kind", ["flow", "plain", "veto", "llm"])
def test_a_judge_is_charged_in_every_way_to_ask(database: str, kind: str) -> None:
    async def awaited() -> list[Answer]:
        async with ragpg.aconnect(
            database, embedder=HashEmbedder(32), settings=ragpg.Settings(usage=True)
        ) as rag:
            whole = await rag.ask(QUESTION, **options(kind))
            stream = rag.ask_stream(QUESTION, **options(kind))
            return [whole, last([event async for event in stream])]

    with connected(database) as rag:
        rag.ingest(texts=[("refunds.md", "Refunds take 5 working days.")])
        plain = rag.ask(QUESTION, **options(kind) | {"judge": "lexical"}).usage
        answers = [
            rag.ask(QUESTION, **options(kind)),
            last(list(rag.ask_stream(QUESTION, **options(kind)))),
        ]
    answers += asyncio.run(awaited())
    for one in answers:
        spent = one.grounding.usage
        assert spent.input_tokens > 80
        assert spent.output_tokens == 4
        price = (spent.input_tokens * CHECKER[0] + spent.output_tokens * CHECKER[1]) / 1e6
        assert spent.cost_usd == pytest.approx(price)
        whole = plain + spent
        assert (one.usage.input_tokens, one.usage.output_tokens) == (
            whole.input_tokens, whole.output_tokens,
        )  # fmt: skip
        assert one.usage.cost_usd == pytest.approx(whole.cost_usd)
    each = answers[0].grounding.usage
    assert booked(database) == [(4, 4 * each.input_tokens, 4 * each.output_tokens)]


def test_verdicts_alone_and_those_of_a_search_are_charged(database: str) -> None:
    judge = options("flow")["judge"]
    with connected(database) as rag:
        rag.ingest(texts=[("refunds.md", "Refunds take 5 working days.")])
        alone = rag.ground(GOOD, question=QUESTION, judge=judge)
        found = rag.search(QUESTION, answer=GOOD, judge=judge)
    assert found.grounding is not None
    assert alone.usage == found.grounding.usage == found.usage != Usage()
    assert booked(database) == [(2, 2 * alone.usage.input_tokens, 8)]


def test_what_cannot_be_read_is_paid_for_too(database: str) -> None:
    with connected(database) as rag:
        rag.ingest(texts=[("refunds.md", "Refunds take 5 working days.")])
        answer = rag.ask(QUESTION, **options("flow", "I would rather not say."))
        assert answer.grounding.state == "grounded"
        assert "the lexical judge took its place" in answer.grounding.notes[0]
        assert answer.grounding.usage.output_tokens == 5
    assert [tokens for _, _, tokens in booked(database)] == [5]
