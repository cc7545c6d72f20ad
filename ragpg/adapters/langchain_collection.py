"""LangChain: documents by id in one namespace, written, read and deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain_core.vectorstores import VectorStore

from ragpg.adapters.langchain_documents import by_id, embeddings_of, made, names_of
from ragpg.adapters.texts import (
    AsGiven,
    as_document,
    async_client,
    check_report,
    sources_of,
    sync_client,
)
from ragpg.errors import NamespaceNotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient


class Collection(VectorStore):
    """What a vector store does beside searching."""

    def __init__(
        self, client: Client | AsyncClient, namespace: str, async_client: AsyncClient | None
    ) -> None:
        self.client = client
        self.async_client = async_client
        self.namespace = namespace

    @property
    def embeddings(self) -> Embeddings | None:
        """The client's embedder, as LangChain knows such."""
        return embeddings_of(self.client)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,
    ) -> list[str]:
        """As add_documents. Raises ValueError where there are more texts than ids, or fewer."""
        return self.add_documents(made(texts, metadatas, ids), **options)

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,
    ) -> list[str]:
        """As add_texts."""
        return await self.aadd_documents(made(texts, metadatas, ids), **options)

    def add_documents(
        self, documents: list[Document], *, ids: list[str] | None = None, **_: Any
    ) -> list[str]:
        """Store documents; what is there under an id is replaced. Returns the ids, made up where
        there were none. Blank texts are left out. Raises LoadError when one cannot be stored."""
        names = names_of(documents, ids)
        if names:
            check_report(sync_client(self.client).ingest(**self._order(names, documents)))
        return names

    async def aadd_documents(
        self, documents: list[Document], *, ids: list[str] | None = None, **_: Any
    ) -> list[str]:
        """As add_documents."""
        names = names_of(documents, ids)
        if names:
            check_report(await self._await("ingest", **self._order(names, documents)))
        return names

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Delete documents by id; None: all of them. Unknown ids are no error."""
        client = sync_client(self.client)
        try:
            if ids is None:
                ids = [hit.source for hit in client.fetch(namespace=self.namespace)]
            client.delete(ids, namespace=self.namespace)
        except NamespaceNotFound:
            return True
        return True

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """As delete."""
        try:
            if ids is None:
                ids = [hit.source for hit in await self._await("fetch", namespace=self.namespace)]
            await self._await("delete", ids, namespace=self.namespace)
        except NamespaceNotFound:
            return True
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that are there, in the order of the ids."""
        try:
            hits = sync_client(self.client).fetch(sources_of(ids), namespace=self.namespace)
        except NamespaceNotFound:
            return []
        return by_id(ids, hits)

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """As get_by_ids."""
        try:
            hits = await self._await("fetch", sources_of(ids), namespace=self.namespace)
        except NamespaceNotFound:
            return []
        return by_id(ids, hits)

    def _order(self, names: list[str], documents: list[Document]) -> dict[str, Any]:
        texts = [
            as_document(name, one.page_content, one.metadata)
            for name, one in zip(names, documents, strict=True)
        ]
        return {"texts": texts, "namespace": self.namespace, "chunker": AsGiven()}

    def _await(self, method: str, *arguments: Any, **options: Any) -> Awaitable[Any]:
        awaited = async_client(self.client, self.async_client)
        if awaited is not None:
            result: Awaitable[Any] = getattr(awaited, method)(*arguments, **options)
            return result
        return asyncio.to_thread(getattr(self.client, method), *arguments, **options)
