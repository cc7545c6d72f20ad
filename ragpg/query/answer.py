"""Answers: search -> refuse, or ask the model -> cite -> ground -> revise; whole or as a stream."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.observe.stage import operation, stage
from ragpg.query.carryover import carryover_probe
from ragpg.query.cite import CitedAnswer, cite
from ragpg.query.ground import ground_flow
from ragpg.query.pipeline import evidence_of, search
from ragpg.query.prompt import is_refusal, refusal
from ragpg.query.repair import repair, weak_claims
from ragpg.query.verdict_marks import mark_answer
from ragpg.steps import Flow, call, complete
from ragpg.types import Answer, Grounding, Revision, SearchResult, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import AsyncGenerator, Generator
    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings
    from ragpg.types import Hit

#: What is said in the place of an answer that the sources do not support well enough.
GATED = "The sources do not support an answer to this well enough."


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with what was found for it: messages for a model, or a refusal to ask one."""

    request: Request
    result: SearchResult
    messages: Sequence[Mapping[str, str]] = ()
    refused: str | None = None

    @property
    def shown(self) -> list[Hit]:
        """The sources that the model saw, those that fitted into the context: its numbers mean
        these."""
        return [citation.hit for citation in self.result.citations]


@dataclass(frozen=True, slots=True)
class Checked:
    """A text with its citations numbered by appearance, the hits in the order of these numbers,
    and the verdicts on its claims."""

    cited: CitedAnswer
    hits: Sequence[Hit]
    grounding: Grounding


def prepare(request: Request, providers: Providers, settings: Settings) -> Flow[Prepared]:
    """Search, and write the prompt, unless the evidence is too weak to ask anybody."""
    result = yield from search(replace(request, answer=None), providers, settings)
    asked = None
    if request.profile.carryover and request.history:
        # "And how long?" shares no word with any source, what it was asked after does.
        asked = yield from call(carryover_probe, result.query, request.questions)
    refused = refusal(result, None if asked is None else asked.query)
    if refused is not None:
        return Prepared(request, result, refused=refused)
    prompt = request.chosen_prompt
    messages = prompt.messages(result.query, result.context, request.history)
    return Prepared(request, result, messages)


def finish(
    prepared: Prepared,
    text: str,
    usage: Usage | None,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    """An answer from what a model wrote: cited, checked, and revised as the request wants it."""
    request, result = prepared.request, prepared.result
    if prepared.refused is not None:
        verdicts = Grounding(prepared.refused, (), None)
        return Answer(prepared.refused, result, verdicts, refused=True)
    checked: Checked = yield from _check(prepared, text)
    used, notes = usage or Usage(), []
    revision: Revision | None = None
    draft = text
    if request.about_unsupported == "repair" and weak_claims(checked.grounding):
        mended = repair(
            text, checked, lambda other: _check(prepared, other), generator, prepared.messages
        )
        done = yield from stage("repair", mended, facts={"model": generator.model})
        text, checked = done.text, done.checked
        used += done.usage or Usage()
        notes.append(done.note)
        revision = "repaired" if done.better else None
    answer: Answer = yield from call(_settled, prepared, checked, revision)
    refused = answer.refused or _finds_nothing(checked)
    notes += answer.notes
    if not answer.text.strip():
        answer, refused = replace(answer, text=GATED), True
        notes.append("the model gave no text")
    kept = draft if answer.revision else None
    return replace(answer, usage=used, refused=refused, draft=kept, notes=notes)


def ask(
    request: Request,
    providers: Providers,
    settings: Settings,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    """An answer from the sources alone, with its citations and the verdicts on its claims."""
    return operation(
        "ask",
        _ask(request, providers, settings, generator),
        namespaces=request.namespaces,
        category="generation",
        content={"query": request.query},
        read=lambda answer: {"refused": answer.refused, "citations": len(answer.citations)},
        charged=lambda answer, usage: replace(answer, usage=usage),
    )


def _ask(
    request: Request,
    providers: Providers,
    settings: Settings,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    prepared = yield from prepare(request, providers, settings)
    text, usage = "", None
    if prepared.refused is None:
        text, usage = yield from stage(
            "generate", complete(generator, prepared.messages), facts={"model": generator.model}
        )
    answer: Answer = yield from finish(prepared, text, usage, generator)
    return answer


def ground_answer(
    answer: str,
    request: Request | None,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    """Verdicts on an answer, against a result or against what a question finds."""
    return operation(
        "ground",
        _ground_answer(answer, request, result, providers, settings),
        namespaces=() if request is None or result is not None else request.namespaces,
        category="grounding",
        read=grounding_facts,
        charged=lambda verdicts, usage: replace(verdicts, usage=usage),
    )


def grounding_facts(verdicts: Grounding) -> dict[str, Any]:
    """What may be told of verdicts: how many claims there are, and how they stand."""
    return {
        "claims": len(verdicts.claims),
        "confidence": verdicts.confidence,
        "judge": verdicts.judge,
    }


def _ground_answer(
    answer: str,
    request: Request | None,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    if not isinstance(answer, str):
        raise ConfigError(f"an answer must be text, not a {type(answer).__name__}")
    judge = None if request is None else request.judge
    if result is None:
        if request is None:
            raise ConfigError("grounding needs evidence: give result=... or question=...")
        result = yield from search(replace(request, answer=None), providers, settings)
    if not isinstance(result, SearchResult):
        raise ConfigError(f"result must be what a search gave, not a {type(result).__name__}")
    evidence = evidence_of(result.hits, result.citations)
    verdicts: Grounding = yield from ground_flow(answer, evidence, judge)
    return verdicts


def _check(prepared: Prepared, text: str) -> Flow[Checked]:
    return stage(
        "ground",
        _checked(prepared, text),
        read=lambda done: grounding_facts(done.grounding),
        category="grounding",
    )


def _checked(prepared: Prepared, text: str) -> Flow[Checked]:
    cited = yield from call(cite, text, prepared.shown)
    hits = _in_order(cited.citations, cited.not_cited)
    verdicts = yield from ground_flow(cited.text, hits, prepared.request.judge)
    if cited.unknown:
        verdicts = replace(verdicts, bad_citations=tuple(cited.unknown))
    return Checked(cited, hits, verdicts)


def _settled(prepared: Prepared, checked: Checked, revision: Revision | None) -> Answer:
    """What is said in the end: the text, the text without or with marked claims, or a refusal."""
    request, verdicts, result = prepared.request, checked.grounding, prepared.result
    gate = request.least_confidence
    if gate is not None and not verdicts.passes(gate):
        said = f"the confidence of the answer, {verdicts.confidence:.2f}, is below the gate {gate}"
        return Answer(GATED, result, verdicts, refused=True, revision="gated", notes=[said])
    text, citations = checked.cited.text, checked.cited.citations
    weak, choice = len(weak_claims(verdicts)), request.about_unsupported
    notes = []
    if weak and choice in ("mark", "drop"):
        text = mark_answer(verdicts, "mark" if choice == "mark" else "drop")
        revision = "marked" if choice == "mark" else "dropped"
        notes = [f"{weak} of {len(verdicts.claims)} claims were {revision}: without support"]
        if weak == len(verdicts.claims) and choice == "drop":
            return Answer(GATED, result, verdicts, refused=True, revision=revision, notes=notes)
    style = request.profile.citation_style
    if revision == "dropped" or style != "numeric":
        # Numbers stay as they are: the verdicts were given with them.
        cited = cite(text, checked.hits, style=style, renumber=False)
        text, citations = cited.text, sorted(cited.citations, key=lambda one: one.number)
    return Answer(text, result, verdicts, citations, revision=revision, notes=notes)


def _finds_nothing(checked: Checked) -> bool:
    """Whether a model says that the sources hold no answer, and nothing else."""
    plain = checked.cited
    return plain.uncited and checked.grounding.confidence is None and is_refusal(plain.text)


def _in_order(*groups: Sequence[Any]) -> list[Hit]:
    """Hits by the number that the rendered answer gives them."""
    citations = [citation for group in groups for citation in group]
    return [one.hit for one in sorted(citations, key=lambda one: int(one.number))]
