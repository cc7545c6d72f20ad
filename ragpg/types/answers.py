"""The results of a search and of a question, and the events of a streamed answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragpg.types.grounding import Claim, Grounding
from ragpg.types.hits import ArmReport, Citation, Fusion, Hit
from ragpg.types.usage import Usage


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, what every arm did, and a numbered context block for a prompt.

    `context` numbers the hits as `citations` does. `grounding` is there when an answer was given.
    `notes` tell what degraded ("vector arm skipped: no embedder"). `context_tokens` is the size of
    the context by the counter in use. `usage` is what its models cost: the vector of the query,
    rewriting, reranking.
    """

    query: str
    hits: Sequence[Hit]
    report: Mapping[str, ArmReport]
    context: str = ""
    citations: Sequence[Citation] = ()
    grounding: Grounding | None = None
    notes: Sequence[str] = ()
    context_tokens: int = 0
    confidence: float | None = None
    fusion: Fusion | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def score_kind(self) -> str | None:
        """The scale of the first hit's score; None without hits. Hits that a reranker did not score
        come behind those that it did, and stay on the scale they were on (`Hit.score_kind`)."""
        return self.hits[0].score_kind if self.hits else None


#: repaired: written again by the model. marked, dropped: weak claims are marked or left out.
#: gated: the confidence was too low.
Revision = Literal["repaired", "marked", "dropped", "gated"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A generated answer with the sources it was given and the verdicts on it.

    `refused` is True when there is no answer: the evidence was too weak to ask a model, the model
    found nothing in it, or the confidence was below the gate. `revision` says how `text` became
    another one than the model first wrote, which is `draft` then. `notes` tell what was done about
    claims without support, and what failed in doing so. Offsets of `grounding` are those of
    `grounding.answer`: the text before claims were marked or dropped, with numbers for citations.
    `usage` is what all models of the call cost, those of the search included.
    """

    text: str
    result: SearchResult
    grounding: Grounding
    citations: Sequence[Citation] = ()
    usage: Usage = field(default_factory=Usage)
    refused: bool = False
    revision: Revision | None = None
    draft: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """First event of a streamed answer: what was found, before the model is asked."""

    result: SearchResult


@dataclass(frozen=True, slots=True)
class Delta:
    """A further piece of the text, as the model wrote it: numbers mean `result.citations`."""

    text: str


@dataclass(frozen=True, slots=True)
class Repairing:
    """The model writes the answer again, because these claims did not hold: the text so far is
    withdrawn, and the deltas that follow are the new one from its beginning."""

    claims: Sequence[Claim] = ()


@dataclass(frozen=True, slots=True)
class Revised:
    """The text that takes the place of all deltas, because checking it changed it. `revision` says
    how; None: a text written again was no better, and this is the first. `notes` say why."""

    text: str
    revision: Revision | None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """Last event: the whole answer, with citations numbered by appearance, and verdicts."""

    answer: Answer


#: What a streamed answer consists of: one Started, any number of Delta, perhaps one Repairing with
#: further Deltas, perhaps one Revised, one Done. The text to show is that of the deltas since
#: Started or Repairing, then Revised's, then Done's.
AnswerEvent = Started | Delta | Repairing | Revised | Done
