"""LangChain: a vector store over one namespace.

    store = RagpgVectorStore(rag, "handbook")
    store.add_documents(splitter.split_documents(pages))
    store.as_retriever(search_type="mmr").invoke("How long do refunds take?")

Needs the extra `langchain` (langchain-core).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ragpg.adapters.langchain_collection import Collection
from ragpg.adapters.langchain_documents import by_vector, embeddings_of, plain, relevant, scored
from ragpg.adapters.langchain_embeddings import LangChainEmbedder
from ragpg.adapters.texts import sync_client
from ragpg.client import connect
from ragpg.errors import ConfigError, NamespaceNotFound
from ragpg.query.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.query.profile import ProfileChoice
    from ragpg.types import Json, SearchResult

Found = TypeVar("Found")


class RagpgVectorStore(Collection):
    """Documents by id in one namespace. An id is the source of a document of ragpg; documents that
    `rag.ingest` cut into several chunks have the ids `source`, `source#1`, `source#2`, ...

    client     of ragpg.connect or ragpg.aconnect; with a sync one the async methods run in a
               thread, unless `async_client` is there too
    namespace  is made by the first write; until then the store is empty
    filter     conditions that every search is put under; those of a call narrow them further
    profile    which stages a search runs; None: the client's

    Texts are stored as they are: split them first. They are embedded by the client's embedder.
    `similarity_search` is the whole search of ragpg, not the vector arm alone; scores are those of
    the hits, higher is better. The `by_vector` methods and relevance scores (cosine similarities,
    0 to 1) are of the vector arm alone.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        namespace: str = "default",
        *,
        async_client: AsyncClient | None = None,
        filter: Json = None,
        profile: ProfileChoice | None = None,
    ) -> None:
        super().__init__(client, namespace, async_client)
        self.filter = filter
        self.profile = read_profile(profile) if profile is not None else client.profile

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        client: Client | None = None,
        dsn: str | None = None,
        namespace: str = "default",
        **options: Any,
    ) -> Self:
        """A store with these texts in it. With a client the embedding must be its own, or None;
        else one is opened at `dsn` (None: RAGPG_DSN), to be closed by `store.client.close()`."""
        if client is None:
            embedder = None if embedding is None else LangChainEmbedder(embedding)
            client = connect(dsn, embedder=embedder)
        elif embedding is not None and embeddings_of(client) is not embedding:
            raise ConfigError(
                "the client embeds with a model of its own",
                hint="Give embedding=None, or ragpg.connect(embedder=LangChainEmbedder(...)).",
            )
        store = cls(client, namespace, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """The k best documents; `filter` and any option of Client.search may be given."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    async def asimilarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """As similarity_search."""
        found = await self.asimilarity_search_with_score(query, k, **options)
        return [document for document, _ in found]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """The k best documents with the scores of the hits: higher is better, within one result."""
        return self._search(scored, query, k=k, **options)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """As similarity_search_with_score."""
        return await self._asearch(scored, query, k=k, **options)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **options: Any
    ) -> list[Document]:
        """The k documents whose vectors are nearest, by cosine."""
        return self._search(plain, "", k=k, **by_vector(embedding), **options)

    async def asimilarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **options: Any
    ) -> list[Document]:
        """As similarity_search_by_vector."""
        return await self._asearch(plain, "", k=k, **by_vector(embedding), **options)

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """k documents that are relevant and unlike each other, out of `fetch_k`; `lambda_mult` is
        the weight of relevance (Carbonell & Goldstein 1998)."""
        varied = self._varied(fetch_k, lambda_mult)
        return self._search(plain, query, k=k, **varied, **options)

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """As max_marginal_relevance_search."""
        varied = self._varied(fetch_k, lambda_mult)
        return await self._asearch(plain, query, k=k, **varied, **options)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **options: Any,
    ) -> list[Document]:
        """As max_marginal_relevance_search, over the vector arm alone."""
        varied = by_vector(embedding) | self._varied(fetch_k, lambda_mult)
        return self._search(plain, "", k=k, **varied, **options)

    async def amax_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **options: Any,
    ) -> list[Document]:
        """As max_marginal_relevance_search_by_vector."""
        varied = by_vector(embedding) | self._varied(fetch_k, lambda_mult)
        return await self._asearch(plain, "", k=k, **varied, **options)

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        return self._search(relevant, query, k=k, arms=["vector"], rerank=False, **options)

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        return await self._asearch(relevant, query, k=k, arms=["vector"], rerank=False, **options)

    def _search(
        self, read: Callable[[SearchResult], list[Found]], query: str, **options: Any
    ) -> list[Found]:
        try:
            return read(sync_client(self.client).search(query, **self._options(options)))
        except NamespaceNotFound:
            return []

    async def _asearch(
        self, read: Callable[[SearchResult], list[Found]], query: str, **options: Any
    ) -> list[Found]:
        try:
            return read(await self._await("search", query, **self._options(options)))
        except NamespaceNotFound:
            return []

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        narrower = options.pop("filter", None)
        filter = {"and": [self.filter, narrower]} if self.filter and narrower else narrower
        return {
            "namespace": self.namespace,
            "filter": filter or self.filter,
            "profile": self.profile,
            **options,
        }

    def _varied(self, fetch_k: int, lambda_mult: float) -> dict[str, Any]:
        profile = replace(self.profile, mmr=lambda_mult)
        return {"profile": profile, "candidates": fetch_k}
