"""LangChain: a retriever.

    retriever = RagpgRetriever(client=rag, namespace="handbook", k=5)
    documents = retriever.invoke("How long do refunds take?")

Needs the extra `langchain` (langchain-core). The vector store is in ragpg.adapters.langchain_store.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from ragpg.adapters.texts import async_client, id_of, placed_metadata, sync_client

if TYPE_CHECKING:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

    from ragpg.types import SearchResult


class RagpgRetriever(BaseRetriever):
    """The hits of a search as documents: the metadata of the document, and over it source,
    namespace, lines, page, heading, rank, score and the rank and score of every arm.

    client          of ragpg.connect or ragpg.aconnect; with a sync one the async methods run in a
                    thread, unless `async_client` is there too
    namespace       one or several; an unknown one is an error
    k               how many documents
    filter          metadata conditions in the language of ragpg, as {"year": {"gte": 2023}}
    profile         which stages run: measured, seed, fast, the path of a file, or a Profile
    search_options  further arguments of Client.search: arms, rerank, candidates, history

    `invoke(query, k=3, filter=...)` overrides any of them for one call. Raises as Client.search.
    """

    client: Any
    async_client: Any = None
    namespace: Any = "default"
    k: int = 10
    filter: Any = None
    profile: Any = None
    search_options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return _documents(sync_client(self.client).search(query, **self._options(options)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        awaited = async_client(self.client, self.async_client)
        if awaited is None:
            found = await asyncio.to_thread(self.client.search, query, **self._options(options))
            return _documents(found)
        return _documents(await awaited.search(query, **self._options(options)))

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        own = {
            "namespace": self.namespace,
            "k": self.k,
            "filter": self.filter,
            "profile": self.profile,
        }
        return {**own, **self.search_options, **options}


def _documents(found: SearchResult) -> list[Document]:
    return [
        Document(id=id_of(hit), page_content=hit.content, metadata=placed_metadata(hit))
        for hit in found.hits
    ]
