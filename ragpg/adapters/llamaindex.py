"""LlamaIndex: a retriever, for query engines and chat engines.

    retriever = RagpgRetriever(rag, "handbook", similarity_top_k=5)
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)

Needs the extra `llamaindex` (llama-index-core).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilters

from ragpg.adapters.texts import async_client as awaited_of
from ragpg.adapters.texts import placed_metadata, sync_client
from ragpg.errors import FilterError

if TYPE_CHECKING:
    from llama_index.core.schema import QueryBundle

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.flows import Names
    from ragpg.query.profile import ProfileChoice
    from ragpg.types import Hit, Json, SearchResult

#: A model reads where a passage stands, not how it was found.
_FOR_THE_MODEL = ("source", "heading", "page", "lines")
_OPERATORS = {
    "==": "eq",
    "!=": "ne",
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
    "in": "in",
    "nin": "not_in",
    "any": "contains_any",
    "all": "contains_all",
    "contains": "contains",
}


class RagpgRetriever(BaseRetriever):
    """The hits of a search as nodes with the scores of the hits; a node's metadata are those of the
    document, and over it source, namespace, lines, page, heading, rank and the arms. Only source,
    heading, page and lines are shown to the model.

    client            of ragpg.connect or ragpg.aconnect; with a sync one the async methods run in a
                      thread, unless `async_client` is there too
    namespace         one or several; an unknown one is an error
    similarity_top_k  how many nodes
    filter            MetadataFilters, or conditions in the language of ragpg
    profile           which stages run: measured, seed, fast, the path of a file, or a Profile
    search_options    further arguments of Client.search: arms, rerank, candidates, history

    Raises as Client.search.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        namespace: Names = "default",
        *,
        async_client: AsyncClient | None = None,
        similarity_top_k: int = 10,
        filter: MetadataFilters | Json = None,
        profile: ProfileChoice | None = None,
        search_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._client = client
        self._async_client = awaited_of(client, async_client)
        self._options = {
            "namespace": namespace,
            "k": similarity_top_k,
            "filter": translate(filter) if isinstance(filter, MetadataFilters) else filter,
            "profile": profile,
            **(search_options or {}),
        }
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(sync_client(self._client).search(**self._asked(query_bundle)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        asked = self._asked(query_bundle)
        if self._async_client is None:
            return _nodes(await asyncio.to_thread(sync_client(self._client).search, **asked))
        return _nodes(await self._async_client.search(**asked))

    def _asked(self, bundle: QueryBundle) -> dict[str, Any]:
        return {"query": bundle.query_str, "embedding": bundle.embedding, **self._options}


def translate(filters: MetadataFilters) -> dict[str, Any] | None:
    """Filters of LlamaIndex for ragpg; without any, None. Raises FilterError for a match of text,
    which is a search, and for other operators that ragpg does not have."""
    conditions: list[dict[str, Any]] = []
    for one in filters.filters:
        if isinstance(one, MetadataFilters):
            inner = translate(one)
            conditions += [inner] if inner else []
        else:
            conditions.append(_comparison(one.key, one.operator.value, one.value))
    if not conditions:
        return None
    condition = "and" if filters.condition is None else filters.condition.value
    if condition == "not":
        return {"not": {"and": conditions}}
    return {condition: conditions}


def _comparison(key: str, operator: str, value: Any) -> dict[str, Any]:
    name = f"/{key.replace('~', '~0').replace('/', '~1')}" if key[:1] in ("@", "$", "/") else key
    if operator == "is_empty":
        return {"or": [{name: {"eq": None}}, {name: {"eq": []}}]}
    if operator not in _OPERATORS:
        raise FilterError(
            f"the operator {operator!r} on {key!r} is none of ragpg's",
            hint=f"There are {', '.join(_OPERATORS)} and is_empty.",
        )
    return {name: {_OPERATORS[operator]: value}}


def _nodes(found: SearchResult) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit), score=hit.score) for hit in found.hits]


def _node(hit: Hit) -> TextNode:
    metadata = placed_metadata(hit)
    hidden = [key for key in metadata if key not in _FOR_THE_MODEL]
    document = RelatedNodeInfo(node_id=f"{hit.namespace}/{hit.source}")
    return TextNode(
        id_=f"{hit.namespace}/{hit.source}#{hit.chunk_index}",
        text=hit.content,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(metadata),
        start_char_idx=hit.start_char,
        end_char_idx=hit.end_char,
        relationships={NodeRelationship.SOURCE: document},
    )
