"""search: embed -> retrieve (SQL, and retrievers beside it) -> fuse -> rerank -> context -> ground.

ask: search -> refuse or complete -> cite -> ground.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, RagpgError
from ragpg.ingest.clean import clean_text
from ragpg.queries import ARM_WEIGHTS
from ragpg.query.cite import cite
from ragpg.query.context import build_context
from ragpg.query.fuse import DEFAULT_WEIGHT, fuse_with_external
from ragpg.query.ground import ground
from ragpg.query.prompt import answer_messages, refusal
from ragpg.query.rerank import rerank_safely
from ragpg.query.retrieve import Retrieved, as_json, retrieve, split_arms, wants_vector
from ragpg.steps import Flow, Retrieve, call, complete, embed_query, fetch, together
from ragpg.types import Answer, ArmReport, Grounding, Hit, SearchResult, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import (
        AsyncEmbedder,
        AsyncGenerator,
        AsyncRetriever,
        Embedder,
        Generator,
        Retriever,
    )
    from ragpg.query.request import Providers, Request
    from ragpg.query.retrieve import ArmChoice
    from ragpg.settings import Settings
    from ragpg.types import Json


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
        embedding = yield from _embedding(query, providers.embedder, report, notes)
    pool = max(request.k, request.pool if request.reranker or choice.external else 0)
    in_sql = _in_sql(request, query, embedding, choice.sql, pool, providers, settings)
    if choice.external:
        found, hits = yield from _beside(in_sql, request, query, choice, providers, settings, pool)
    else:
        answer = yield from in_sql
        found, hits = answer.report, answer.hits
    report |= found
    if request.reranker is not None:
        hits, report["rerank"] = yield from call(rerank_safely, request.reranker, query, hits)
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


def ask(
    request: Request,
    providers: Providers,
    settings: Settings,
    generator: Generator | AsyncGenerator,
) -> Flow[Answer]:
    """An answer from the sources alone, with its citations and the verdicts on its claims."""
    result = yield from search(replace(request, answer=None), providers, settings)
    refused = refusal(result)
    if refused is not None:
        verdicts = Grounding(refused, (), None)
        return Answer(refused, result, verdicts, refused=True)
    messages = answer_messages(result.query, result.context)
    text, usage = yield from complete(generator, messages)
    # The model saw the sources that fitted into the context; numbers mean those.
    shown = [citation.hit for citation in result.citations]
    cited = yield from call(cite, text, shown)
    verdicts = yield from call(ground, cited.text, _in_order(cited.citations, cited.not_cited))
    if cited.unknown:
        verdicts = replace(verdicts, bad_citations=tuple(cited.unknown))
    return Answer(cited.text, result, verdicts, cited.citations, usage or Usage())


def ground_answer(
    answer: str,
    request: Request | None,
    result: SearchResult | None,
    providers: Providers,
    settings: Settings,
) -> Flow[Grounding]:
    """Verdicts on an answer, against a result or against what a question finds."""
    if result is None:
        if request is None:
            raise ConfigError("grounding needs evidence: give result=... or question=...")
        result = yield from search(replace(request, answer=None), providers, settings)
    verdicts: Grounding = yield from call(ground, answer, result.hits)
    return verdicts


def _embedding(
    query: str,
    embedder: Embedder | AsyncEmbedder | None,
    report: dict[str, ArmReport],
    notes: list[str],
) -> Flow[list[float] | None]:
    if embedder is None:
        notes.append("vector arm skipped: no embedder")
        return None
    began = time.perf_counter()
    try:
        vector = yield from embed_query(embedder, query)
    except Exception as error:  # an embedder of the user's own may raise anything
        if isinstance(error, ConfigError):
            raise
        reason = error.message if isinstance(error, RagpgError) else _reason(error)
        report["embed"] = ArmReport(ms=_since(began), error=reason)
        notes.append(f"vector arm skipped: the query could not be embedded: {reason}")
        return None
    report["embed"] = ArmReport(rows=1, ms=_since(began))
    return vector


def _in_sql(
    request: Request,
    query: str,
    embedding: Sequence[float] | None,
    arms: Json,
    pool: int,
    providers: Providers,
    settings: Settings,
) -> Flow[Retrieved]:
    """What the arms in SQL find. The vector of another model means nothing to the namespaces: then
    it is asked for once more, without the vector, and the report says why."""

    def ask_for(vector: Sequence[float] | None) -> Flow[Retrieved]:
        return retrieve(
            query,
            embedding=vector,
            namespaces=request.namespaces,
            filter=request.filter,
            k=pool,
            arms=arms,
            budget=settings.budget,
            timeout=settings.search_timeout,
        )

    found = yield from ask_for(embedding)
    if embedding is None or request.embedding is not None or len(found.spaces) != 1:
        return found
    embedder = providers.embedder
    [(model, dimensions)] = found.spaces
    if embedder is None or (embedder.model, len(embedding)) == (model, dimensions):
        return found
    found = yield from ask_for(None)
    found.report["vector"] = ArmReport(
        error=f"the embedder is {embedder.model} ({len(embedding)} dimensions), these namespaces "
        f"were embedded with {model} ({dimensions}): search with that model, or ingest anew"
    )
    return found


def _beside(
    in_sql: Flow[Retrieved],
    request: Request,
    query: str,
    choice: ArmChoice,
    providers: Providers,
    settings: Settings,
    pool: int,
) -> Flow[tuple[dict[str, ArmReport], list[Hit]]]:
    """SQL and external retrievers side by side, fused; one that fails or is slow is reported."""
    chosen = [one for one in providers.retrievers if one.name in choice.external]

    def weighted() -> Flow[tuple[Retrieved, dict[str, float]]]:
        weights = yield from fetch(ARM_WEIGHTS, {"arms": as_json("arms", choice.sql)})
        found = yield from in_sql
        return found, dict(weights)

    outcomes = yield from together(
        weighted(),
        *(
            _ask_retriever(one, query, request.filter, choice.external[one.name], settings)
            for one in chosen
        ),
    )
    found, weights = outcomes[0].take()
    report = dict(found.report)
    lists: dict[str, list[Hit]] = {}
    for one, outcome in zip(chosen, outcomes[1:], strict=True):
        if outcome.error is not None:
            report[one.name] = ArmReport(error=_reason(outcome.error))
            continue
        lists[one.name], report[one.name] = outcome.take()
        weight = choice.external[one.name].get("weight")
        weights[one.name] = DEFAULT_WEIGHT if weight is None else float(weight)
    return report, fuse_with_external(found.hits, lists, weights, k=pool)


def _ask_retriever(
    retriever: Retriever | AsyncRetriever,
    query: str,
    filter: Json,
    options: Mapping[str, Any],
    settings: Settings,
) -> Flow[tuple[list[Hit], ArmReport]]:
    began = time.perf_counter()
    k = int(options.get("k", 50))
    hits: Sequence[Hit] = yield Retrieve(retriever, query, k, filter, settings.retriever_timeout)
    least = options.get("min_score")
    kept = [hit for hit in hits if least is None or hit.score >= least][:k]
    return kept, ArmReport(rows=len(kept), ms=_since(began))


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
    )


def _in_order(*groups: Sequence[Any]) -> list[Hit]:
    """Hits by the number that the rendered answer gives them."""
    citations = [citation for group in groups for citation in group]
    return [one.hit for one in sorted(citations, key=lambda one: int(one.number))]


def _reason(error: Exception) -> str:
    text = str(error)
    if isinstance(error, TimeoutError) and not text:
        return "no answer in time"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
