"""What the graph derives and how fresh it is, as flows; the work is in SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.steps import Query, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

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


def _text(value: Any) -> str:
    return str(value)


STATUS = Query(
    """
select namespace, documents, entities, mentions, relations, links, resolved, ambiguous,
       shared_terms, communities, analysed_at, changed_since, titles_waiting
  from ragpg.graph_status(%(namespaces)s)
""",
    GraphStatus,
    reads=True,
)
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


def rebuild(namespace: str) -> Flow[None]:
    """Derive topics, mentions of titles and links anew, which ingestion otherwise keeps current.

    What extractors found stays. Raises NamespaceNotFound.
    """
    yield from fetch_one(REBUILD, {"namespace": namespace})
