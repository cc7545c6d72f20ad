"""What the graph derives and how fresh it is, as flows; the work is in SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.steps import Query, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.steps import Flow


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """The graph of a namespace in numbers.

    `ambiguous` links may mean several documents, so none was taken. `changed_since` counts the
    documents new, changed or gone since `analysed_at`, which is None before the first analysis.
    `titles_waiting` are titles of common words: the next analysis looks for them in older chunks.
    """

    namespace: str
    documents: int
    entities: int
    mentions: int
    relations: int
    links: int
    resolved: int
    ambiguous: int
    shared_terms: int
    communities: int
    analysed_at: datetime | None
    changed_since: int
    titles_waiting: int


@dataclass(frozen=True, slots=True)
class StaleGraph:
    """A namespace of which `changed` documents are new, changed or gone since `analysed_at`."""

    namespace: str
    documents: int
    changed: int
    analysed_at: datetime | None

    def __str__(self) -> str:
        name = f"the graph of namespace {self.namespace!r}"
        if self.analysed_at is None:
            return f"{name} was never analysed: {self.documents} documents"
        return f"{name} has {self.changed} changed documents of {self.documents} since its analysis"


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document with its share of a walk through the graph, and the name of its community."""

    source: str
    title: str
    rank: float
    community: str | None


def _text(value: Any) -> str:
    return str(value)


def _given(value: Any) -> Any:
    return value


STATUS = Query(
    """
select namespace, documents, entities, mentions, relations, links, resolved, ambiguous,
       shared_terms, communities, analysed_at, changed_since, titles_waiting
  from ragpg.graph_status(%(namespaces)s)
""",
    GraphStatus,
    reads=True,
)
STALE = Query(
    """
select namespace, documents, changed, analysed_at
  from ragpg.stale_graphs(%(namespaces)s, %(share)s)
""",
    StaleGraph,
    reads=True,
)
NOW = Query("select now()", _given, reads=True)
PART = Query(
    """
select ragpg.analyse_part(%(namespace)s, %(part)s, %(since)s, %(details)s::jsonb)::text
""",
    _given,
)
RANK = Query(
    """
select source, title, rank, community
  from ragpg.graph_rank(%(namespace)s, %(sources)s, %(query)s, %(k)s, %(hops)s)
""",
    RankedDocument,
    reads=True,
)
#: A graph is stale when this share of its documents has changed.
STALE_SHARE = 0.1
#: `ragpg ingest` analyses a namespace of so many documents itself: half a second.
SMALL = 1000
#: Of an analysis, in order.
PARTS = ("names", "terms", "pagerank", "communities")
ANALYSE = Query("select ragpg.analyse_graph(%(namespace)s)::text", _text)
REBUILD = Query("select ragpg.rebuild_graph(%(namespace)s)::text", _text)


def status(namespaces: Sequence[str] | None = None) -> Flow[list[GraphStatus]]:
    """The graphs of some namespaces, or of all. Raises NamespaceNotFound."""
    names = None if namespaces is None else list(namespaces)
    rows: list[GraphStatus] = yield from fetch(STATUS, {"namespaces": names})
    return rows


def analyse(namespace: str) -> Flow[dict[str, float]]:
    """Compute shared terms, PageRank and communities anew; what there is, and the seconds.

    Searches go on meanwhile, with the analysis before. Raises NamespaceNotFound.
    """
    text: str = yield from fetch_one(ANALYSE, {"namespace": namespace})
    found: dict[str, float] = json.loads(text)
    return found


def stale(
    namespaces: Sequence[str] | None = None, share: float = STALE_SHARE
) -> Flow[list[StaleGraph]]:
    """Where at least this `share` of the documents (0 to 1) has changed since the last analysis,
    or where there was none; of some namespaces, or of all. Raises NamespaceNotFound."""
    names = None if namespaces is None else list(namespaces)
    rows: list[StaleGraph] = yield from fetch(STALE, {"namespaces": names, "share": share})
    return rows


def refresh(namespace: str) -> Flow[dict[str, float] | None]:
    """As `analyse`, in four transactions, so that nobody who writes waits for long; None where
    another session is at it, which then goes on alone. Raises NamespaceNotFound."""
    since: datetime = yield from fetch_one(NOW, {})
    details: str | None = "{}"
    for part in PARTS:
        wanted = {"namespace": namespace, "part": part, "since": since, "details": details}
        [details] = yield from fetch(PART, wanted, timeout=0)
        if details is None:
            return None
    found: dict[str, float] = json.loads(details or "{}")
    return found


def rank(
    namespace: str = "default",
    *,
    sources: Sequence[str] | None = None,
    query: str | None = None,
    k: int = 20,
    hops: int = 2,
) -> Flow[list[RankedDocument]]:
    """Documents by their place in the graph, highest first: by the PageRank of the last analysis,
    or, from some sources or from the five best keyword hits of a query, by Personalised PageRank
    (Haveliwala 2002) over 1 to 5 `hops`. Raises NamespaceNotFound, and ConfigError for a source
    that is not there and for a number out of range."""
    wanted = {
        "namespace": namespace,
        "sources": None if sources is None else arguments.patterns("sources", sources),
        "query": None if query is None else arguments.text("query", query),
        "k": arguments.whole("k", k),
        "hops": arguments.whole("hops", hops, least=1),
    }
    rows: list[RankedDocument] = yield from fetch(RANK, wanted)
    return rows


def rebuild(namespace: str) -> Flow[None]:
    """Derive topics, mentions of titles and links anew, which ingestion otherwise keeps current.

    What extractors found stays. Raises NamespaceNotFound.
    """
    yield from fetch_one(REBUILD, {"namespace": namespace})
