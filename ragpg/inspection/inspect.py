"""Runs one search and keeps what every stage saw.

from ragpg.inspection.inspect import inspect
from ragpg.inspection.page import as_html

found = rag.run(inspect(rag, "how long do refunds take?", namespace="handbook"))
Path("refunds.html").write_text(as_html(found))
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragpg.observe.stage import watching
from ragpg.query.confidence import confidence
from ragpg.query.pipeline import search
from ragpg.query.rerank_features import features
from ragpg.query.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.flows import Flows, Names
    from ragpg.query.rerank_features import Features
    from ragpg.steps import Flow
    from ragpg.types import Hit, SearchResult

#: A second, wider search shows what stands in the lists of arms and not among the candidates.
_WIDE = 200


@dataclass(frozen=True, slots=True)
class Inspection:
    """A search and what its stages saw.

    result      what the search gave
    trace       the hits after fusion, reranking and prior
    beyond      hits that arms found and the fusion left out of the candidates
    features    what the heuristic reranker sees in each of `trace.fused`
    stages      milliseconds of each stage, in the order in which they ended
    confidence  what the confidence is made of, by signal, on the scale of log odds
    """

    result: SearchResult
    trace: Trace
    namespaces: Sequence[str]
    profile: str
    reranker: str | None
    beyond: Sequence[Hit] = ()
    features: Sequence[Features] = ()
    stages: Sequence[tuple[str, float]] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)
    answer: str | None = None


def inspect(
    rag: Flows,
    query: str,
    *,
    namespace: Names = "default",
    answer: str | None = None,
    **options: Any,
) -> Flow[Inspection]:
    """Search, and search once more and wider for what the fusion left out.

    answer   a text whose claims are held against what was found
    options  k, filter, arms, profile and the others of Client.search

    Raises what Client.search raises.
    """
    rerank = options.pop("rerank", True)
    profile = options.pop("profile", None)
    trace = Trace()
    request = rag._request(
        query, namespace, rerank, profile, answer=answer, judged=answer is not None, trace=trace,
        **options,
    )  # fmt: skip
    with watching() as stages:
        # A result that was kept tells nothing of its stages.
        providers = replace(rag._providers, cache=None)
        result: SearchResult = yield from search(request, providers, rag.settings)
    beyond: list[Hit] = []
    if trace.fused:
        plain = replace(request.profile, mmr=1.0, collapse=1.0, parents=0, compress=False)
        wide = replace(request, k=_WIDE, answer=None, trace=None, reranker=None, profile=plain,
                       judge=None)  # fmt: skip
        more: SearchResult = yield from search(wide, providers, rag.settings)
        known = {key_of(hit) for hit in trace.fused}
        beyond = [hit for hit in more.hits if key_of(hit) not in known]
    return Inspection(
        result=result,
        trace=trace,
        namespaces=request.namespaces,
        profile=request.profile.name,
        reranker=getattr(request.reranker, "name", None),
        beyond=beyond,
        features=features(query, trace.fused),
        stages=[(stage.name, stage.ms) for stage in stages],
        confidence=confidence(query, trace.fused[: request.k], result.report).parts,
        answer=answer,
    )


def key_of(hit: Hit) -> tuple[str, int | str]:
    """What makes a hit the same hit in every list: its chunk, outside of a database its source."""
    return hit.namespace, hit.source if hit.chunk_id is None else hit.chunk_id
