"""What a model wrote, checked: cited, judged, and turned into what is said in the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.observe.stage import stage
from ragpg.query.cite import CitedAnswer, cite
from ragpg.query.ground import ground_flow
from ragpg.query.prompt import is_refusal
from ragpg.query.repair import Round, weak_claims
from ragpg.query.verdict_marks import mark_answer
from ragpg.steps import Flow, call
from ragpg.types import Answer, Grounding, Revision, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.query.request import Request
    from ragpg.types import Hit, SearchResult

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


def check(prepared: Prepared, text: str) -> Flow[Checked]:
    """The citations and claims of a text that a model wrote."""
    return stage(
        "ground",
        _checked(prepared, text),
        read=lambda done: grounding_facts(done.grounding),
        category="grounding",
        charged=_charged,
    )


def grounding_facts(verdicts: Grounding) -> dict[str, Any]:
    """What may be told of verdicts: how many claims there are, and how they stand."""
    return {
        "claims": len(verdicts.claims),
        "confidence": verdicts.confidence,
        "judge": verdicts.judge,
    }


def settled(prepared: Prepared, draft: str, done: Round[Checked]) -> Answer:
    """The answer: the text, the text without or with marked claims, or a refusal. `draft` is what
    the model wrote first, `done` the text that was kept."""
    revision: Revision | None = "repaired" if done.better else None
    answer = _said(prepared, done.checked, revision)
    refused, notes = answer.refused or _finds_nothing(done.checked), [*answer.notes]
    if done.note:
        notes.insert(0, done.note)
    if not any(mark.isprintable() and not mark.isspace() for mark in answer.text):
        answer, refused = replace(answer, text=GATED), True
        notes.append("the model gave no text")
    kept = draft if answer.revision else None
    return replace(answer, refused=refused, draft=kept, notes=notes)


def _checked(prepared: Prepared, text: str) -> Flow[Checked]:
    cited = yield from call(cite, text, prepared.shown)
    hits = _in_order(cited.citations, cited.not_cited)
    verdicts = yield from ground_flow(
        cited.text,
        hits,
        prepared.request.judge,
        prepared.request.judge_timeout,
        prepared.request.lexical,
    )
    if cited.unknown:
        verdicts = replace(verdicts, bad_citations=tuple(cited.unknown))
    return Checked(cited, hits, verdicts)


def _charged(checked: Checked, usage: Usage) -> Checked:
    return replace(checked, grounding=replace(checked.grounding, usage=usage))


def _said(prepared: Prepared, checked: Checked, revision: Revision | None) -> Answer:
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
