"""Answers: search -> refuse, or ask the model -> cite -> ground; whole or as a stream of events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.query.cite import Style, cite
from ragpg.query.ground import ground
from ragpg.query.pipeline import evidence_of, search
from ragpg.query.prompt import answer_messages, refusal
from ragpg.steps import Flow, call, complete
from ragpg.types import Answer, Grounding, SearchResult, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import AsyncGenerator, Generator
    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings
    from ragpg.types import Hit


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with what was found for it: messages for a model, or a refusal to ask one."""

    result: SearchResult
    messages: Sequence[Mapping[str, str]] = ()
    refused: str | None = None
    style: Style = "numeric"


def prepare(request: Request, providers: Providers, settings: Settings) -> Flow[Prepared]:
    """Search, and write the prompt, unless the evidence is too weak to ask anybody."""
    result = yield from search(replace(request, answer=None), providers, settings)
    refused = refusal(result)
    if refused is not None:
        return Prepared(result, refused=refused)
    messages = answer_messages(result.query, result.context)
    return Prepared(result, messages, style=request.profile.citation_style)


def finish(prepared: Prepared, text: str, usage: Usage | None) -> Flow[Answer]:
    """An answer with its citations and the verdicts on its claims, from what a model wrote."""
    result = prepared.result
    if prepared.refused is not None:
        verdicts = Grounding(prepared.refused, (), None)
        return Answer(prepared.refused, result, verdicts, refused=True)
    # The model saw the sources that fitted into the context; numbers mean those.
    shown = [citation.hit for citation in result.citations]
    cited = yield from call(cite, text, shown)
    verdicts = yield from call(ground, cited.text, _in_order(cited.citations, cited.not_cited))
    if cited.unknown:
        verdicts = replace(verdicts, bad_citations=tuple(cited.unknown))
    written = cited.text
    if prepared.style != "numeric":
        # Claims are judged with their numbers; `grounding.answer` keeps that text.
        styled = yield from call(lambda: cite(text, shown, style=prepared.style))
        written = styled.text
    return Answer(written, result, verdicts, cited.citations, usage or Usage())


def ask(
    request: Request,
    providers: Providers,
    settings: Settings,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    """An answer from the sources alone, with its citations and the verdicts on its claims."""
    prepared = yield from prepare(request, providers, settings)
    text, usage = "", None
    if prepared.refused is None:
        text, usage = yield from complete(generator, prepared.messages)
    answer: Answer = yield from finish(prepared, text, usage)
    return answer


def ground_answer(
    answer: str,
    request: Request | None,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    """Verdicts on an answer, against a result or against what a question finds."""
    if not isinstance(answer, str):
        raise ConfigError(f"an answer must be text, not a {type(answer).__name__}")
    if result is None:
        if request is None:
            raise ConfigError("grounding needs evidence: give result=... or question=...")
        result = yield from search(replace(request, answer=None), providers, settings)
    verdicts: Grounding = yield from call(
        ground, answer, evidence_of(result.hits, result.citations)
    )
    return verdicts


def _in_order(*groups: Sequence[Any]) -> list[Hit]:
    """Hits by the number that the rendered answer gives them."""
    citations = [citation for group in groups for citation in group]
    return [one.hit for one in sorted(citations, key=lambda one: int(one.number))]
