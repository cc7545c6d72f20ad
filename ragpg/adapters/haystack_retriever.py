"""Haystack: a retriever over a RagpgDocumentStore. Needs the extra `haystack` (haystack-ai)."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import component
from haystack.core.serialization import default_from_dict, default_to_dict
from haystack.dataclasses import Document
from haystack.document_stores.types import FilterPolicy
from haystack.document_stores.types.filter_policy import apply_filter_policy

from ragpg.adapters.haystack import RagpgDocumentStore
from ragpg.adapters.haystack_filters import translate
from ragpg.adapters.texts import id_of, placed_metadata
from ragpg.errors import ConfigError


@component
class RagpgRetriever:
    """The hits of a search as documents: the metadata of the document, and over it source,
    namespace, lines, page, heading, rank, and the rank and score of every arm.

    filters        in Haystack's language
    top_k          how many documents
    profile        which stages run: measured, seed, fast or the path of a file
    filter_policy  whether the filters of a run replace these or join them
    """

    def __init__(
        self,
        document_store: RagpgDocumentStore,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        profile: str | None = None,
        filter_policy: FilterPolicy = FilterPolicy.REPLACE,
    ) -> None:
        if not isinstance(document_store, RagpgDocumentStore):
            raise ConfigError("document_store must be a RagpgDocumentStore")
        self.document_store = document_store
        self.filters = filters
        self.top_k = top_k
        self.profile = profile
        self.filter_policy = filter_policy

    def to_dict(self) -> dict[str, Any]:
        """The component as Haystack writes it."""
        data: dict[str, Any] = default_to_dict(
            self,
            document_store=self.document_store.to_dict(),
            filters=self.filters,
            top_k=self.top_k,
            profile=self.profile,
            filter_policy=self.filter_policy.value,
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RagpgRetriever:
        """A component from what to_dict gave."""
        given = data["init_parameters"]
        if isinstance(given.get("document_store"), dict):
            given["document_store"] = RagpgDocumentStore.from_dict(given["document_store"])
        if isinstance(given.get("filter_policy"), str):
            given["filter_policy"] = FilterPolicy.from_str(given["filter_policy"])
        made: RagpgRetriever = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """Documents, best first. A query_embedding must be of the namespace's model. Raises
        haystack's FilterError, and otherwise as Client.search."""
        chosen = apply_filter_policy(self.filter_policy, self.filters, filters)
        found = self.document_store.client.search(
            query,
            namespace=self.document_store.namespace,
            k=self.top_k if top_k is None else top_k,
            filter=translate(chosen),
            profile=self.profile,
            embedding=query_embedding,
        )
        return {
            "documents": [
                Document(
                    id=id_of(hit), content=hit.content, meta=placed_metadata(hit), score=hit.score
                )
                for hit in found.hits
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """As run, in a thread."""
        return await asyncio.to_thread(self.run, query, filters, top_k, query_embedding)
