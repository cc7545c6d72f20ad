"""The graph of one namespace, sync and async.

graph = Graph(rag, "handbook")
graph.cypher("MATCH (a)-[:LINKS]->(b) RETURN a.source AS source, b.source AS target")
graph.around("refunds.md")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.graph import age, analysis, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.graph.age import LabelChange
    from ragpg.graph.analysis import GraphStatus, RankedDocument
    from ragpg.graph.show import Neighbourhood
    from ragpg.types import Json

Rows = list[dict[str, Any]]


class Graph:
    """What joins the documents of a namespace, over a sync client.

    Links and titles are current with every ingest; shared terms, ranks and communities as of the
    last `analyse`. Cypher needs the extension age; everything else works without.
    """

    def __init__(self, rag: Client, namespace: str = "default") -> None:
        self._rag = rag
        self.namespace = namespace

    def cypher(
        self, query: str, params: Mapping[str, Json] | None = None, *, timeout: float = 10.0
    ) -> Rows:
        """Rows of a Cypher query that reads; columns are named in its RETURN. `timeout` is in
        seconds. Raises CypherError for a query that is refused, ExtensionMissing without age."""
        flow = age.cypher(query, params, namespace=self.namespace, timeout=timeout)
        return self._rag.run(flow)

    def around(self, start: str, *, hops: int = 1, k: int = 12, most: int = 60) -> Neighbourhood:
        """What lies around a document, by source, or an entity, by name: at most `k` neighbours a
        node and `most` nodes. `ragpg.graph.show` writes it as text, DOT or a page."""
        flow = show.around(start, namespace=self.namespace, hops=hops, k=k, most=most)
        return self._rag.run(flow)

    def analyse(self) -> dict[str, float]:
        """Compute shared terms, ranks and communities anew; how many there are, and `seconds`."""
        return self._rag.run(analysis.analyse(self.namespace))

    def rank(
        self,
        *,
        sources: Sequence[str] | None = None,
        query: str | None = None,
        k: int = 20,
        hops: int = 2,
    ) -> list[RankedDocument]:
        """Documents by PageRank, or by Personalised PageRank from some sources or a query; see
        `ragpg.graph.analysis.rank`."""
        flow = analysis.rank(self.namespace, sources=sources, query=query, k=k, hops=hops)
        return self._rag.run(flow)

    def rebuild(self) -> None:
        """Derive titles, mentions of titles and links anew from the documents."""
        self._rag.run(analysis.rebuild(self.namespace))

    def status(self) -> GraphStatus:
        """Sizes, and how stale the analysis is."""
        [found] = self._rag.run(analysis.status([self.namespace]))
        return found

    def sync(self) -> list[LabelChange]:
        """Bring the Cypher mirror up to date, where it is not kept so; what was changed."""
        return self._rag.run(age.sync(self.namespace))


class AsyncGraph:
    """As Graph, over an async client."""

    def __init__(self, rag: AsyncClient, namespace: str = "default") -> None:
        self._rag = rag
        self.namespace = namespace

    async def cypher(
        self, query: str, params: Mapping[str, Json] | None = None, *, timeout: float = 10.0
    ) -> Rows:
        """As Graph.cypher."""
        flow = age.cypher(query, params, namespace=self.namespace, timeout=timeout)
        return await self._rag.run(flow)

    async def around(
        self, start: str, *, hops: int = 1, k: int = 12, most: int = 60
    ) -> Neighbourhood:
        """As Graph.around."""
        flow = show.around(start, namespace=self.namespace, hops=hops, k=k, most=most)
        return await self._rag.run(flow)

    async def analyse(self) -> dict[str, float]:
        """As Graph.analyse."""
        return await self._rag.run(analysis.analyse(self.namespace))

    async def rank(
        self,
        *,
        sources: Sequence[str] | None = None,
        query: str | None = None,
        k: int = 20,
        hops: int = 2,
    ) -> list[RankedDocument]:
        """As Graph.rank."""
        flow = analysis.rank(self.namespace, sources=sources, query=query, k=k, hops=hops)
        return await self._rag.run(flow)

    async def rebuild(self) -> None:
        """As Graph.rebuild."""
        await self._rag.run(analysis.rebuild(self.namespace))

    async def status(self) -> GraphStatus:
        """As Graph.status."""
        [found] = await self._rag.run(analysis.status([self.namespace]))
        return found

    async def sync(self) -> list[LabelChange]:
        """As Graph.sync."""
        return await self._rag.run(age.sync(self.namespace))
