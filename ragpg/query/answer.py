"""Answers: search -> refuse, or ask the model -> cite -> ground -> revise; whole or as a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError
from ragpg.observe.stage import operation
from ragpg.query.carryover import carryover_probe
from ragpg.query.checked import Prepared, grounding_facts
from ragpg.query.ground import ground_flow
from ragpg.query.pipeline import evidence_of, search
from ragpg.query.prompt import refusal
from ragpg.query.script import Script, answering, whole
from ragpg.steps import Flow, call
from ragpg.types import Answer, Grounding, SearchResult

if TYPE_CHECKING:
    from ragpg.protocols import AsyncGenerator, Generator
    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings


def prepare(request: Request, providers: Providers, settings: Settings) -> Flow[Prepared]:
    """Search, and write the prompt, unless the evidence is too weak to ask anybody."""
    result = yield from search(replace(request, answer=None), providers, settings)
    asked = None
    if request.profile.carryover and request.history:
        # "And how long?" shares no word with any source, what it was asked after does.
        asked = yield from call(carryover_probe, result.query, request.questions)
    meant = None if asked is None else asked.query
    refused = refusal(result, meant, low_cosine=request.profile.low_cosine)
    if refused is not None:
        return Prepared(request, result, refused=refused)
    prompt = request.chosen_prompt
    messages = prompt.messages(result.query, result.context, request.history)
    return Prepared(request, result, messages)


def ask(
    request: Request,
    providers: Providers,
    settings: Settings,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    """An answer from the sources alone, with its citations and the verdicts on its claims."""
    return operation(
        "ask",
        whole(script_of(request, providers, settings), generator),
        namespaces=request.namespaces,
        category="generation",
        content={"query": request.query},
        read=lambda answer: {"refused": answer.refused, "citations": len(answer.citations)},
        charged=lambda answer, usage: replace(answer, usage=usage),
    )


def script_of(request: Request, providers: Providers, settings: Settings) -> Script:
    """How an answer comes about, for those who drive it in events."""
    return answering(prepare(request, providers, settings))


def ground_answer(
    answer: str,
    request: Request,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    """Verdicts on an answer, against a result or against what a question finds."""
    return operation(
        "ground",
        _ground_answer(answer, request, result, providers, settings),
        namespaces=() if result is not None else request.namespaces,
        category="grounding",
        read=grounding_facts,
        charged=lambda verdicts, usage: replace(verdicts, usage=usage),
    )


def _ground_answer(
    answer: str,
    request: Request,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    if not isinstance(answer, str):
        raise ConfigError(f"an answer must be text, not a {type(answer).__name__}")
    if result is None:
        result = yield from search(replace(request, answer=None), providers, settings)
    if not isinstance(result, SearchResult):
        raise ConfigError(f"result must be what a search gave, not a {type(result).__name__}")
    evidence = evidence_of(result.hits, result.citations)
    verdicts: Grounding = yield from ground_flow(
        answer, evidence, request.judge, request.judge_timeout, request.lexical
    )
    return verdicts
