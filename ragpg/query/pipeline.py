"""search: embed -> retrieve (SQL beside external retrievers) -> fuse -> rerank -> context -> ground.

ask: search -> refuse or complete -> cite -> ground.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError, NamespaceNotFound, ProviderError, RagpgError
from ragpg.ingest.clean import clean_text
from ragpg.queries import ARM_WEIGHTS
from ragpg.query.cite import cite
from ragpg.query.context import DEFAULT_BUDGET, build_context
from ragpg.query.fuse import fuse_with_external
from ragpg.query.ground import ground
from ragpg.query.prompt import answer_messages, refusal
from ragpg.query.rerank import rerank_safely
from ragpg.query.retrieve import Arms, Retrieved, retrieve, split_arms, wants_vector
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
        Reranker,
        Retriever,
    )
    from ragpg.settings import Settings
    from ragpg.types import Json


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks of a search; the client documents the fields."""

    query: str
    namespaces: Sequence[str] = ("default",)
    k: int = 10
    filter: Json = None
    arms: Arms | None = None
    reranker: Reranker | None = None
    embedding: Sequence[float] | None = None
    answer: str | None = None
    context_tokens: int = DEFAULT_BUDGET
    candidates: int = 50

    def __post_init__(self) -> None:
        if self.k < 0 or self.candidates < 0:
            raise ConfigError(f"k and candidates cannot be negative: {self.k}, {self.candidates}")


@dataclass(frozen=True, slots=True)
class Providers:
    """The models and sources that a client was given."""

    embedder: Embedder | AsyncEmbedder | None = None
    retrievers: Sequence[Retriever | AsyncRetriever] = ()


def search(request: Request, providers: Providers, settings: Settings) -> Flow[SearchResult]:
    """Hits, a report of every arm and stage, the context block, and verdicts on an answer."""
    query = clean_text(request.query)[0]
    if request.k == 0 or not (query.strip() or request.filter):
        return _result(request, [], {}, ["nothing was searched: the query is blank or k is 0"])
    notes: list[str] = []
    report: dict[str, ArmReport] = {}
    choice = split_arms(request.arms, [one.name for one in providers.retrievers])
    embedding = request.embedding
    if embedding is None and wants_vector(choice.sql) and query.strip():
        embedding = yield from _embedding(query, providers.embedder, report, notes)
    pool = max(request.k, request.candidates if request.reranker or choice.external else 0)

    def in_sql(vector: Sequence[float] | None) -> Flow[Retrieved]:
        return retrieve(
            query,
            embedding=vector,
            namespaces=request.namespaces,
            filter=request.filter,
            k=pool,
            arms=choice.sql,
            budget=settings.budget,
            timeout=settings.search_timeout,
        )

    if choice.external:
        found, hits = yield from _with_external(
            request,
            query,
            choice.sql,
            choice.external,
            providers,
            settings,
            in_sql(embedding),
            pool,
        )
        report |= found
    else:
        answer = yield from in_sql(embedding)
        if request.embedding is None and (other := _other_model(answer, providers.embedder)):
            # Its numbers would mean nothing to this space: once more without them.
            answer = yield from in_sql(None)
            notes.append(other)
            answer.report["vector"] = ArmReport(error=other)
        hits = answer.hits
        report |= answer.report
    if request.reranker is not None:
        hits, report["rerank"] = yield from call(rerank_safely, request.reranker, query, hits)
    notes += [
        f"{name} arm failed: {arm.error}"
        for name, arm in report.items()
        if arm.error and arm.error not in notes and name != "embed"
    ]
    result = _result(request, hits[: request.k], report, notes)
    if request.answer is not None:
        verdicts = yield from call(_ground, request.answer, result.hits)
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
    verdicts = yield from call(_ground, cited.text, _in_order(cited.citations, cited.not_cited))
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
    verdicts: Grounding = yield from call(_ground, answer, result.hits)
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
        reason = error.message if isinstance(error, RagpgError) else _reason(error)
        if isinstance(error, ConfigError) and not isinstance(error, ProviderError):
            raise
        report["embed"] = ArmReport(ms=_since(began), error=reason)
        notes.append(f"vector arm skipped: the query could not be embedded: {reason}")
        return None
    report["embed"] = ArmReport(rows=1, ms=_since(began))
    return vector


def _other_model(found: Retrieved, embedder: Embedder | AsyncEmbedder | None) -> str | None:
    """Why the query's vector is none of the namespaces' space; their number is SQL's to judge."""
    if embedder is None or len(found.spaces) != 1 or found.report.get("vector", _NONE).skipped:
        return None
    [(model, dimensions)] = found.spaces
    if (embedder.model, embedder.dimensions) == (model, dimensions):
        return None
    return (
        f"the embedder is {embedder.model} ({embedder.dimensions} dimensions), these namespaces "
        f"were embedded with {model} ({dimensions}); search with that model, or ingest again"
    )


_NONE = ArmReport(skipped="not run")


def _with_external(
    request: Request,
    query: str,
    arms: Json,
    external: Mapping[str, Mapping[str, Any]],
    providers: Providers,
    settings: Settings,
    sql: Flow[Retrieved],
    pool: int,
) -> Flow[tuple[dict[str, ArmReport], list[Hit]]]:
    chosen = [one for one in providers.retrievers if one.name in external]

    def in_database() -> Flow[tuple[Retrieved, dict[str, float]]]:
        weights = yield from fetch(ARM_WEIGHTS, {"arms": arms_json(arms)})
        found = yield from sql
        return found, dict(weights)

    outcomes = yield from together(
        in_database(),
        *(_ask_retriever(one, query, request, external[one.name], settings) for one in chosen),
    )
    found, weights = outcomes[0].take()
    report = dict(found.report)
    lists: dict[str, list[Hit]] = {}
    for one, outcome in zip(chosen, outcomes[1:], strict=True):
        options = external[one.name]
        if outcome.error is not None:
            if isinstance(outcome.error, NamespaceNotFound):
                raise outcome.error
            report[one.name] = ArmReport(error=_reason(outcome.error))
            continue
        hits, ms = outcome.take()
        report[one.name] = ArmReport(rows=len(hits), ms=ms)
        lists[one.name] = hits
        weights[one.name] = float(options.get("weight") or 1.0)
    return report, fuse_with_external(found.hits, lists, weights, k=pool)


def arms_json(arms: Json) -> str | None:
    """A choice of arms as a parameter."""
    import json

    return None if arms is None else json.dumps(arms)


def _ask_retriever(
    retriever: Retriever | AsyncRetriever,
    query: str,
    request: Request,
    options: Mapping[str, Any],
    settings: Settings,
) -> Flow[tuple[list[Hit], float]]:
    began = time.perf_counter()
    k = int(options.get("k", 50))
    hits: Sequence[Hit] = yield Retrieve(
        retriever, query, k, request.filter, settings.retriever_timeout
    )
    least = options.get("min_score")
    kept = [hit for hit in hits if least is None or hit.score >= least][:k]
    return kept, _since(began)


def _result(
    request: Request, hits: Sequence[Hit], report: Mapping[str, ArmReport], notes: Sequence[str]
) -> SearchResult:
    numbered = [
        hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)
    ]
    context = build_context(numbered, budget=request.context_tokens)
    remarks = list(notes)
    if context.dropped:
        remarks.append(
            f"the context holds {len(context.citations)} of {len(numbered)} hits "
            f"(context_tokens={request.context_tokens})"
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


def _ground(answer: str, hits: Sequence[Hit]) -> Grounding:
    return ground(answer, hits)


def _reason(error: Exception) -> str:
    text = str(error)
    if isinstance(error, TimeoutError) and not text:
        return "no answer in time"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
