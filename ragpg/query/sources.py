"""The sources of a search: the arms in SQL, and retrievers of the user's own beside them."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ragpg.embedders import embedder_of
from ragpg.errors import ConfigError, RagpgError
from ragpg.observe.stage import stage
from ragpg.query.fuse import DEFAULT_WEIGHT, fuse_with_external
from ragpg.query.probes import probes_json
from ragpg.query.retrieve import Retrieved, retrieve
from ragpg.stages import since
from ragpg.steps import Flow, Retrieve, call, embed_query, together
from ragpg.types import ArmReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.protocols import AsyncEmbedder, AsyncRetriever, Embedder, Retriever
    from ragpg.query.probes import Probe
    from ragpg.query.request import Providers, Request
    from ragpg.query.retrieve import ArmChoice
    from ragpg.settings import Settings
    from ragpg.types import Fusion, Hit, Json


#: Reports of the arms, the hits, and how the arms in SQL were fused.
Found: TypeAlias = "tuple[dict[str, ArmReport], list[Hit], Fusion | None]"


def embedding_of(
    query: str,
    embedder: Embedder | AsyncEmbedder | None,
    report: dict[str, ArmReport],
    notes: list[str],
) -> Flow[list[float] | None]:
    """The vector of the query; None where there is none, and the notes say why."""
    if embedder is None:
        notes.append("vector arm skipped: no embedder")
        return None
    began = time.perf_counter()
    try:
        vector = yield from stage("embed", embed_query(embedder, query))
    except Exception as error:  # an embedder of the user's own may raise anything
        if isinstance(error, ConfigError):
            raise
        reason = error.message if isinstance(error, RagpgError) else _reason(error)
        report["embed"] = ArmReport(ms=since(began), error=reason)
        notes.append(f"vector arm skipped: the query could not be embedded: {reason}")
        return None
    report["embed"] = ArmReport(rows=1, ms=since(began))
    return vector


def search_in_sql(
    request: Request,
    query: str,
    embedding: Sequence[float] | None,
    arms: Json,
    pool: int,
    probes: Sequence[Probe],
    providers: Providers,
    settings: Settings,
) -> Flow[Retrieved]:
    """What the arms in SQL find. The vector of another model means nothing to the namespaces: then
    it is asked for once more, without the vector, and the report says why."""

    def ask_for(vector: Sequence[float] | None, *, words_only: bool = False) -> Flow[Retrieved]:
        # The vectors of probes are of the first model.
        wordy = words_only or vector is None
        asked = retrieve(
            query,
            embedding=vector,
            namespaces=request.namespaces,
            filter=request.filter,
            k=pool,
            arms=arms,
            budget=settings.budget,
            timeout=settings.search_timeout,
            fusion=dict(request.profile.fusion) or None,
            probes=probes_json(map(_wordy, probes) if wordy else probes) or None,
            prior=request.profile.prior,
        )
        return stage("retrieve", asked, facts={"k": pool}, read=_facts)

    found = yield from ask_for(embedding)
    if embedding is None or request.embedding is not None or len(found.spaces) != 1:
        return found
    embedder = providers.embedder
    [(model, dimensions)] = found.spaces
    if embedder is None or (embedder.model, len(embedding)) == (model, dimensions):
        return found
    # The namespaces have changed their model; a client that has both goes on with the new one.
    other = yield from call(partial(embedder_of, prefer=True), embedder, model, dimensions)
    if other is not None:
        vector = yield from embedding_of(query, other, {}, [])
        if vector is not None:
            again = yield from ask_for(vector, words_only=True)
            if again.spaces == [(other.model, len(vector))]:
                return again
    found = yield from ask_for(None)
    found.report["vector"] = ArmReport(
        error=f"the embedder is {embedder.model} ({len(embedding)} dimensions), these namespaces "
        f"were embedded with {model} ({dimensions}): search with that model, or ingest anew"
    )
    return found


def _facts(found: Retrieved) -> dict[str, Any]:
    facts: dict[str, Any] = {"rows": len(found.hits)}
    for name, arm in found.report.items():
        # The names of probes hold what they search for.
        if ":" not in name and arm.skipped is None:
            facts[f"{name}_rows"], facts[f"{name}_ms"] = arm.rows, arm.ms
    return facts


def _wordy(probe: Probe) -> Probe:
    return replace(probe, embedding=None)


def search_beside(
    in_sql: Flow[Retrieved],
    request: Request,
    query: str,
    choice: ArmChoice,
    providers: Providers,
    settings: Settings,
    pool: int,
) -> Flow[Found]:
    """SQL and external retrievers side by side, fused; one that fails or is slow is reported."""
    chosen = [one for one in providers.retrievers if one.name in choice.external]

    outcomes = yield from together(
        in_sql,
        *(
            stage(
                "retriever",
                _ask_retriever(one, query, request.filter, choice.external[one.name], settings),
                facts={"arm": one.name},
            )
            for one in chosen
        ),
    )
    found = outcomes[0].take()
    weights: dict[str, float] = {}
    report = dict(found.report)
    lists: dict[str, list[Hit]] = {}
    for one, outcome in zip(chosen, outcomes[1:], strict=True):
        if outcome.error is not None:
            report[one.name] = ArmReport(error=_reason(outcome.error))
            continue
        lists[one.name], report[one.name] = outcome.take()
        weight = choice.external[one.name].get("weight")
        weights[one.name] = DEFAULT_WEIGHT if weight is None else float(weight)
    rrf_k = 10 if found.fusion is None else found.fusion.rrf_k
    hits = fuse_with_external(found.hits, lists, weights, rrf_k=rrf_k, k=pool)
    return report, hits, found.fusion


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
    kept = [replace(hit, kind="external") for hit in hits if least is None or hit.score >= least][
        :k
    ]
    return kept, ArmReport(rows=len(kept), ms=since(began))


def _reason(error: BaseException) -> str:
    text = str(error)
    if isinstance(error, TimeoutError) and not text:
        return "no answer in time"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
