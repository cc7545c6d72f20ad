"""Variants and HyDE: what a chat model writes joins the search, and what it does not write does not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError, ProviderError
from ragpg.query.hyde import LONGEST, hyde_probe
from ragpg.query.variants import query_variants
from ragpg.steps import Complete, arun, run
from ragpg.testing import ScriptedGenerator

if TYPE_CHECKING:
    from ragpg.query.probes import Probe
    from ragpg.steps import Flow

QUERY = "how long do refunds take?"


def perform(step: Any) -> Any:
    assert isinstance(step, Complete)
    return step.generator.generate(step.messages)  # type: ignore[union-attr]


def variants(
    answer: str | list[str | Exception], count: int = 4, **options: Any
) -> list[str | None]:
    flow = query_variants(QUERY, ScriptedGenerator(answer), count, **options)
    return [probe.query for probe in run(flow, perform)]


def hyde(answer: str | list[str | Exception]) -> Probe:
    return run(hyde_probe(QUERY, ScriptedGenerator(answer)), perform)


@pytest.mark.parametrize(
    "answer",
    [
        "refund duration\ntime until money is back",
        "1. refund duration\n2. time until money is back",
        "1) refund duration\n\n2) **time until money is back**",
        '- refund duration\n- "time until money is back"',
        "Sure! Here are the queries:\n\n1. refund duration\n2. time until money is back\n\nHope it helps.",
        '["refund duration", "time until money is back"]',
        'Sure:\n```json\n{"queries": ["refund duration", {"query": "time until money is back"}]}\n```\nDone.',
        "<think>1. maybe this\n2. or that</think>\nrefund duration\ntime until money is back",
        "Query 1: refund duration\nQuery 2: time until money is back",
        "refund duration\nRefund  duration.\nHOW LONG DO REFUNDS TAKE\ntime until money is back",
    ],
)
def test_lists_of_any_shape_are_read(answer: str) -> None:
    assert variants(answer) == ["refund duration", "time until money is back"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n\n",
        "null",
        "[]",
        "{}",
        "I'm sorry, I can't help with that.",
        "I cannot assist with this request.",
        "<think>1. endless thought",
        QUERY,
        f"1. {QUERY}",
        "x" * 100_000,
        "!!!\n???",
        "\x00\n\ud800",
        "[" * 5000,
    ],
)
def test_an_answer_without_a_query_is_said_so(answer: str) -> None:
    with pytest.raises(ProviderError, match="wrote no other phrasing"):
        variants(answer)


def test_there_are_never_more_than_asked_for() -> None:
    answer = "\n".join(f"{number}. variant number {number}" for number in range(1, 40))
    assert variants(answer, 3) == [f"variant number {number}" for number in (1, 2, 3)]
    assert variants(answer, 0) == []
    with pytest.raises(ConfigError):
        variants(answer, 17)
    assert run(query_variants("  ", ScriptedGenerator("x")), perform) == []


def test_names_are_unique_and_embeddings_are_left_to_the_caller() -> None:
    probes = run(query_variants(QUERY, ScriptedGenerator("a b\nc d")), perform)
    assert [probe.name for probe in probes] == ["variant-1", "variant-2"]
    assert all(probe.embedding is None for probe in probes)


def test_a_failing_model_raises_what_it_raised() -> None:
    away = ProviderError("away", scope="service")
    with pytest.raises(ProviderError, match="away"):
        variants([away])
    with pytest.raises(ProviderError, match="away"):
        hyde([away])


def test_a_passage_becomes_a_probe_of_the_vector_arm() -> None:
    probe = hyde("<thinking>hm</thinking> Refunds are paid\nwithin ten days.")
    assert probe.query == "Refunds are paid within ten days."
    assert (probe.name, tuple(probe.arms), probe.embedding) == ("hyde", ("vector",), None)
    assert len(hyde("word " * 10_000).query or "") <= LONGEST


@pytest.mark.parametrize(
    "answer", ["", " \n", "<think>never ends", "Sorry, I can't do that.", "...", "42", "\x00\ud800"]
)
def test_no_passage_is_said_so(answer: str) -> None:
    with pytest.raises(ProviderError, match="wrote no passage"):
        hyde(answer)


def test_an_answer_that_is_no_text_is_said_so() -> None:
    for answer in (None, 7, ["a"]):
        flow: Flow[Any] = hyde_probe(QUERY, ScriptedGenerator("x"))
        next(flow)
        with pytest.raises(ProviderError):
            flow.send((answer, None))


@pytest.mark.parametrize(
    "braces", ["set {1;2} and {name} {{x}} {0} {", "{query} {count} %(x)s ${HOME}"]
)
def test_braces_in_a_query_reach_the_model_byte_for_byte(braces: str) -> None:
    model = ScriptedGenerator("other words")
    run(query_variants(braces, model), perform)
    run(hyde_probe(braces, model), perform)
    assert all(braces in request[0]["content"] for request in model.requests)


def test_prompts_are_the_callers_to_choose() -> None:
    model = ScriptedGenerator("other words")
    run(query_variants(QUERY, model, 2, prompt="{count} mal anders: {query} {x}"), perform)
    run(hyde_probe(QUERY, model, prompt="Antworte: {query}"), perform)
    said = [request[0]["content"] for request in model.requests]
    assert said == [f"2 mal anders: {QUERY} {{x}}", f"Antworte: {QUERY}"]
    with pytest.raises(ConfigError, match="query"):
        run(query_variants(QUERY, model, prompt="nothing"), perform)


def test_async_is_the_same_flow() -> None:
    async def aperform(step: Any) -> Any:
        return await step.generator.agenerate(step.messages)

    answer = "1. refund duration\n2. money back"
    found = asyncio.run(arun(query_variants(QUERY, ScriptedGenerator(answer)), aperform))
    assert found == run(query_variants(QUERY, ScriptedGenerator(answer)), perform)
