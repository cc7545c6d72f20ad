"""search: retrieve (SQL, and retrievers beside it) -> rerank -> choose -> context -> ground."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragpg.arguments import MOST
from ragpg.ingest.clean import clean_text
from ragpg.observe.stage import operation, stage
from ragpg.queries import NAMESPACE_IDS
from ragpg.query.cache import cached
from ragpg.query.confidence import confidence
from ragpg.query.correct import WIDER
from ragpg.query.ground import ground_flow
from ragpg.query.legible import LEGIBLE, UNREADABLE, leaning, legibility, unread
from ragpg.query.prior import apply_prior
from ragpg.query.retrieve import split_arms, wants
from ragpg.query.selection import choose, write_context
from ragpg.query.sources import Found, embedding_of, search_beside, search_in_sql
from ragpg.query.trace import Trace
from ragpg.query.understand import probes_of, second_attempt
from ragpg.rerankers.chain import Search, rerank_hits
from ragpg.steps import fetch
from ragpg.types import ArmReport, SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.query.confidence import Confidence
    from ragpg.query.probes import Probe
    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings
    from ragpg.steps import Flow
    from ragpg.types import Citation, Fusion, Hit


def search(request: Request, providers: Providers, settings: Settings) -> Flow[SearchResult]:
    """Hits, a report of every arm and stage, the context block, and verdicts on an answer."""
    return operation(
        "search",
        _search(request, providers, settings),
        namespaces=request.namespaces,
        category="retrieval",
        facts={"k": request.k, "profile": request.profile.name},
        content={"query": request.query},
        read=_facts,
        charged=lambda result, usage: replace(result, usage=usage),
    )


def _facts(result: SearchResult) -> dict[str, Any]:
    arms = [name for name, arm in result.report.items() if arm.rows and ":" not in name]
    failed = [name for name, arm in result.report.items() if arm.error]
    return {"rows": len(result.hits), "arms": arms} | ({"failed": failed} if failed else {})


def _search(request: Request, providers: Providers, settings: Settings) -> Flow[SearchResult]:
    query = clean_text(request.query)[0]
    asks = query.strip() or request.filter or request.embedding is not None
    if request.k == 0 or not asks:
        # An unknown namespace is no empty one.
        yield from fetch(NAMESPACE_IDS, {"namespaces": list(request.namespaces)})
        said = "nothing was searched: the query is blank or k is 0"
        return SearchResult(query=request.query, hits=[], report={}, notes=[said])
    found = _found(request, query, providers, settings)
    if providers.cache is None:
        return (yield from found)
    return (yield from cached(providers.cache, request, providers, found))


def _found(
    request: Request, query: str, providers: Providers, settings: Settings
) -> Flow[SearchResult]:
    notes: list[str] = []
    report: dict[str, ArmReport] = {}
    found = yield from _candidates(request, query, providers, settings, report, notes)
    hits, sure = found.hits, found.sure
    trace = Trace() if request.trace is None else request.trace
    trace.fused = hits
    if request.reranker is not None:
        reranked = yield from rerank_hits(
            request.reranker, query, hits, Search(found.embedding, found.legibility)
        )
        hits = reranked.hits
        report |= reranked.report
        notes += reranked.notes
    trace.reranked = hits
    hits = apply_prior(hits, report)
    trace.weighed = hits
    hits = yield from stage("choose", choose(request.profile, hits, request.k, report))
    hits = [
        hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)
    ]
    context = yield from stage(
        "context",
        write_context(
            request.profile, query, hits, budget=request.budget, model=request.model, report=report
        ),
        read=lambda made: {"rows": len(made.citations), "tokens": made.tokens},
    )
    notes += [
        f"{name} failed: {arm.error}"
        for name, arm in report.items()
        if arm.error and name != "embed"
    ]
    if context.dropped:
        notes.append(
            f"the context holds {len(context.citations)} of {len(hits)} hits "
            f"(context_tokens={request.budget})"
        )
    verdicts = None
    if request.answer is not None:
        evidence = evidence_of(hits, context.citations)
        judged = ground_flow(
            request.answer, evidence, request.judge, request.judge_timeout, request.lexical
        )
        verdicts = yield from stage(
            "ground",
            judged,
            category="grounding",
            charged=lambda found, usage: replace(found, usage=usage),
        )
    return SearchResult(
        query=request.query,
        hits=hits,
        report=report,
        context=context.text,
        citations=context.citations,
        grounding=verdicts,
        notes=notes,
        context_tokens=context.tokens,
        confidence=sure.value if sure.known else None,
        fusion=found.fusion,
    )


def evidence_of(hits: Sequence[Hit], citations: Sequence[Citation]) -> Sequence[Hit]:
    """The texts that numbers in an answer mean: the passages of the context where neighbours were
    joined to them, because several hits may have become one; else the hits."""
    widened = any(citation.hit.chunk_ids for citation in citations)
    return [citation.hit for citation in citations] if widened else hits


class _Candidates(NamedTuple):
    hits: list[Hit]
    sure: Confidence
    fusion: Fusion | None
    embedding: Sequence[float] | None
    legibility: float


def _candidates(
    request: Request,
    query: str,
    providers: Providers,
    settings: Settings,
    report: dict[str, ArmReport],
    notes: list[str],
) -> Flow[_Candidates]:
    """What SQL and the retrievers beside it find, fused; a weak search gets a second attempt."""
    choice = split_arms(request.chosen_arms, [one.name for one in providers.retrievers])
    vectors = wants("vector", choice.sql)
    embedding = request.embedding
    share = 1.0
    if embedding is None and vectors and query.strip():
        text = query
        if wants("keyword", choice.sql):  # else the vector is all there is
            text, share = yield from legibility(query, providers.embedder)
        if share < LEGIBLE:
            notes.append(UNREADABLE)
            report["embed"] = unread(share)
        else:
            embedding = yield from embedding_of(text, providers.embedder, report, notes)
        if share < 1:
            leant = replace(request.profile, fusion=leaning(request.profile.fusion, share))
            request = replace(request, profile=leant)
    vectors = vectors and embedding is not None
    probes = yield from stage(
        "rewrite",
        probes_of(request, query, providers, report, vectors=vectors),
        read=lambda made: {"rows": len(made)},
    )
    profile = request.profile
    looks_deeper = request.reranker or choice.external or profile.mmr < 1 or profile.collapse < 1
    pool = max(request.k, request.pool if looks_deeper else 0)

    def attempt(asked: list[Probe], width: int) -> Flow[Found]:
        in_sql = search_in_sql(
            request, query, embedding, choice.sql, width, asked, providers, settings
        )
        if choice.external:
            return (yield from search_beside(in_sql, request, query, choice, providers, settings,
                                             width))  # fmt: skip
        found = yield from in_sql
        return found.report, found.hits, found.fusion

    found, hits, fusion = yield from attempt(probes, pool)
    sure = confidence(query, hits[: request.k], {**report, **found})
    if profile.corrective and sure.known and sure.value < profile.corrective and query.strip():
        more = yield from second_attempt(query, providers, report, vectors=vectors)
        if more:
            # SQL looks as far down in every arm as hits are asked for.
            found, hits, fusion = yield from attempt([*probes, *more], min(WIDER * pool, MOST))
            hits = hits[:pool]
            report["corrective"] = ArmReport(rows=len(hits), mode=f"confidence {sure.value:.2f}")
            sure = confidence(query, hits[: request.k], {**report, **found})
        else:
            report["corrective"] = ArmReport(skipped="the query has nothing to leave out")
    report |= found
    return _Candidates(hits, sure, fusion, embedding, share)
