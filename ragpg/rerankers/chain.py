"""Rerankers one after the other, each bounded in hits and time, none able to hurt.

chain = RerankChain(HeuristicReranker(), RerankStage(HttpReranker(...), candidates=30, timeout=2.0))
rag.search("refunds", rerank=chain)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.errors import ConfigError
from ragpg.observe.stage import stage as observed
from ragpg.perform import aperform_rerank, perform_rerank
from ragpg.rerankers.guard import name_of, same_hits, scale_of
from ragpg.stages import reason, since
from ragpg.steps import Flow, Rerank, arun, run
from ragpg.types import ArmReport

if TYPE_CHECKING:
    from ragpg.protocols import AsyncReranker, Reranker
    from ragpg.types import Hit


@dataclass(frozen=True, slots=True)
class RerankStage:
    """A reranker with its bounds.

    candidates  it sees so many hits, the others stay behind them; None: what the reranker says
                (`reranker.candidates`), else all
    timeout     seconds it may take; then the earlier order stays. None: what the reranker says
                (`reranker.timeout`), else no limit
    min_score   hits that this stage scored lower are dropped, and so are hits that it did not
                score. It belongs to this stage's scale: when the stage fails nothing is dropped,
                and scores of other stages are never compared with it
    """

    reranker: Reranker | AsyncReranker
    candidates: int | None = None
    timeout: float | None = None
    min_score: float | None = None

    def __post_init__(self) -> None:
        if self.candidates is not None and self.candidates < 1:
            raise ConfigError(f"candidates of a rerank stage must be 1 or more: {self.candidates}")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(f"timeout of a rerank stage must be above 0 s: {self.timeout}")

    @property
    def name(self) -> str:
        """The reranker's name."""
        return name_of(self.reranker)


@dataclass(frozen=True, slots=True)
class Search:
    """The search that a chain belongs to.

    embedding   the vector of its query, where it has one
    legibility  how far the embedding model can read the query, 0 to 1
    timeout     seconds that a stage may take
    """

    embedding: Sequence[float] | None = None
    legibility: float = 1.0
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order, what every stage did, and what degraded in sentences.

    A single stage reports as "rerank", several as "rerank:<name>".
    """

    hits: list[Hit]
    report: dict[str, ArmReport] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class RerankChain:
    """Several rerankers as one: each orders what the one before it gave.

    A stage that fails, takes too long or answers nonsense leaves the earlier order, and the next
    one goes on from there. Takes rerankers, or a RerankStage for bounds or a threshold.
    """

    def __init__(self, *stages: AnyReranker) -> None:
        self.stages: tuple[RerankStage, ...] = stages_of(stages)

    @property
    def name(self) -> str:
        """The names of the stages in order: "heuristic > cohere"."""
        return " > ".join(stage.name for stage in self.stages)

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits after all stages. What failed is told by `rerank_hits` only."""
        done: Reranked = run(rerank_hits(self, query, hits), perform_rerank)
        return done.hits

    async def arerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """As rerank, off the event loop."""
        done: Reranked = await arun(rerank_hits(self, query, hits), aperform_rerank)
        return done.hits


AnyReranker: TypeAlias = "Reranker | AsyncReranker | RerankStage | RerankChain"


def stages_of(rerankers: AnyReranker | Sequence[AnyReranker]) -> tuple[RerankStage, ...]:
    """The stages of a reranker, a stage, a chain, or a sequence of these."""
    if isinstance(rerankers, RerankChain):
        return rerankers.stages
    if isinstance(rerankers, RerankStage):
        inner = stages_of(rerankers.reranker) if isinstance(rerankers.reranker, RerankChain) else ()
        return inner or (rerankers,)
    if isinstance(rerankers, Sequence) and not isinstance(rerankers, str | bytes):
        return tuple(stage for one in rerankers for stage in stages_of(one))
    if not (hasattr(rerankers, "rerank") or hasattr(rerankers, "arerank")):
        raise ConfigError(
            f"{type(rerankers).__name__} is no reranker: it has no method rerank(query, hits)"
        )
    return (RerankStage(rerankers),)


def rerank_hits(
    rerankers: AnyReranker | Sequence[AnyReranker],
    query: str,
    hits: Sequence[Hit],
    search: Search | None = None,
) -> Flow[Reranked]:
    """Run all stages. Never raises for what a reranker does; an interrupt passes.

    Within a `search` a reranker may have a method `informed(search)`, which gives the one to run,
    or a method `flow(query, hits, search)` in steps, which may use the database.
    """
    done = Reranked(list(hits))
    stages = stages_of(rerankers)
    for place, stage in enumerate(stages, start=1):
        key = "rerank" if len(stages) == 1 else f"rerank:{stage.name}"
        if key in done.report:
            key = f"{key}-{place}"
        done = yield from _stage(done, key, stage, query, search)
    return done


def _stage(
    done: Reranked, key: str, stage: RerankStage, query: str, search: Search | None
) -> Flow[Reranked]:
    hits, report, notes = done.hits, done.report, done.notes
    name = stage.name
    if not hits or not query.strip():
        report[key] = ArmReport(rows=len(hits), skipped="nothing to rerank", mode=name)
        return done
    most = _bound(stage, "candidates")
    timeout = _bound(stage, "timeout")
    head, tail = (hits, []) if most is None else (hits[: int(most)], hits[int(most) :])
    began = time.perf_counter()
    flow = getattr(stage.reranker, "flow", None) if search else None
    informed = getattr(stage.reranker, "informed", None) if search else None
    try:
        reranker = stage.reranker if informed is None else informed(search)
        after = yield from observed(
            "rerank",
            _ask(Rerank(reranker, query, head, timeout))
            if flow is None or search is None
            else flow(query, head, replace(search, timeout=timeout)),
            facts={"reranker": name, "rows": len(head)},
        )
        kept, problem = same_hits(head, list(after), scale_of(stage.reranker))
    except Exception as error:  # a reranker of the user's own may raise anything
        report[key] = ArmReport(rows=len(hits), ms=since(began), error=reason(error), mode=name)
        if stage.min_score is not None:
            notes.append(f"min_score {stage.min_score:g} of {name} was not applied: it failed")
        return done
    ms = since(began)
    if stage.min_score is not None:
        kept, tail, said = _above(stage, kept, tail)
        notes.extend([said] if said else [])
    numbered = [replace(hit, rank=rank) for rank, hit in enumerate([*kept, *tail], start=1)]
    report[key] = ArmReport(rows=len(kept), ms=ms, error=problem, mode=name)
    return Reranked(numbered, report, notes)


def _ask(step: Rerank) -> Flow[Sequence[Hit]]:
    hits: Sequence[Hit] = yield step
    return hits


def _above(
    stage: RerankStage, kept: list[Hit], tail: list[Hit]
) -> tuple[list[Hit], list[Hit], str]:
    """Hits that reach the threshold, what stays behind them, and what to say. Only scores on the
    stage's own scale are compared."""
    assert stage.min_score is not None
    scale = scale_of(stage.reranker)
    scored = [hit for hit in kept if hit.score_kind == scale]
    if not scored:
        said = f"min_score {stage.min_score:g} of {stage.name} was not applied: it scored nothing"
        return kept, tail, said
    passed = [hit for hit in scored if hit.score >= stage.min_score]
    dropped = len(kept) + len(tail) - len(passed)
    said = f"{dropped} hits are below min_score {stage.min_score:g} of {stage.name}, or not scored"
    return passed, [], said if dropped else ""


def _bound(stage: RerankStage, name: str) -> float | None:
    own: Any = getattr(stage, name)
    value: Any = own if own is not None else getattr(stage.reranker, name, None)
    return value if isinstance(value, (int, float)) and value > 0 else None
