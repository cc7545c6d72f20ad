"""search: retrieve (SQL, and retrievers beside it) -> rerank -> context -> ground."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.ingest.clean import clean_text
from ragpg.query.context import build_context
from ragpg.query.ground import ground
from ragpg.query.retrieve import split_arms, wants_vector
from ragpg.query.sources import embedding_of, search_beside, search_in_sql
from ragpg.rerankers.chain import rerank_hits
from ragpg.steps import Flow, call
from ragpg.types import ArmReport, SearchResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.query.request import Providers, Request
    from ragpg.settings import Settings
    from ragpg.types import Hit


def search(request: Request, providers: Providers, settings: Settings) -> Flow[SearchResult]:
    """Hits, a report of every arm and stage, the context block, and verdicts on an answer."""
    query = clean_text(request.query)[0]
    if request.k == 0 or not (query.strip() or request.filter):
        return _result(request, [], {}, ["nothing was searched: the query is blank or k is 0"])
    notes: list[str] = []
    report: dict[str, ArmReport] = {}
    choice = split_arms(request.chosen_arms, [one.name for one in providers.retrievers])
    embedding = request.embedding
    if embedding is None and wants_vector(choice.sql) and query.strip():
        embedding = yield from embedding_of(query, providers.embedder, report, notes)
    pool = max(request.k, request.pool if request.reranker or choice.external else 0)
    in_sql = search_in_sql(request, query, embedding, choice.sql, pool, providers, settings)
    if choice.external:
        found, hits = yield from search_beside(
            in_sql, request, query, choice, providers, settings, pool
        )
    else:
        answer = yield from in_sql
        found, hits = answer.report, answer.hits
    report |= found
    if request.reranker is not None:
        reranked = yield from rerank_hits(request.reranker, query, hits)
        hits = reranked.hits
        report |= reranked.report
        notes += reranked.notes
    notes += [
        f"{name} failed: {arm.error}"
        for name, arm in report.items()
        if arm.error and name != "embed"
    ]
    result = _result(request, hits[: request.k], report, notes)
    if request.answer is not None:
        verdicts = yield from call(ground, request.answer, result.hits)
        result = replace(result, grounding=verdicts)
    return result


def _result(
    request: Request, hits: Sequence[Hit], report: Mapping[str, ArmReport], notes: Sequence[str]
) -> SearchResult:
    numbered = [
        hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)
    ]
    context = build_context(numbered, budget=request.budget)
    remarks = list(notes)
    if context.dropped:
        remarks.append(
            f"the context holds {len(context.citations)} of {len(numbered)} hits "
            f"(context_tokens={request.budget})"
        )
    return SearchResult(
        query=request.query,
        hits=numbered,
        report=report,
        context=context.text,
        citations=context.citations,
        notes=remarks,
        context_tokens=context.tokens,
    )
