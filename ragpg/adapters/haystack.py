"""Haystack: a document store over one namespace.

    store = RagpgDocumentStore(namespace="handbook", embedder="local")   # RAGPG_DSN
    pipeline.add_component("writer", DocumentWriter(store))
    pipeline.add_component("retriever", RagpgRetriever(store, top_k=5))

Needs the extra `haystack` (haystack-ai). The retriever is in ragpg.adapters.haystack_retriever.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack.core.serialization import default_from_dict, default_to_dict
from haystack.dataclasses import Document
from haystack.document_stores.errors import DocumentStoreError, DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret, deserialize_secrets_inplace

from ragpg.adapters.haystack_filters import translate
from ragpg.adapters.texts import AsGiven, as_document, check_report, id_of
from ragpg.client import connect
from ragpg.errors import ConfigError, NamespaceNotFound, RagpgError

if TYPE_CHECKING:
    from typing import Self

    from ragpg.client import Client
    from ragpg.types import Hit


class RagpgDocumentStore:
    """Documents by id in one namespace; an id is the source of a document of ragpg.

    dsn        the database; a Secret, so that pipelines can be written to files
    namespace  is made by the first write; until then the store is empty
    embedder   which model embeds, by name: hash, local, openai, openai:MODEL, path:FOLDER or None
    client     of ragpg.connect, in place of dsn and embedder; such a store cannot be serialised

    Texts are stored as they are: split them first. They are embedded by the store, so a pipeline
    needs no embedder of its own, and embeddings that documents carry are left out. The async
    methods work in threads.
    """

    def __init__(
        self,
        dsn: Secret | None = None,
        namespace: str = "default",
        *,
        embedder: str | None = None,
        client: Client | None = None,
    ) -> None:
        self.dsn = dsn or Secret.from_env_var("RAGPG_DSN", strict=False)
        self.namespace = namespace
        self.embedder = embedder
        self._given = client
        self._opened: Client | None = None

    @property
    def client(self) -> Client:
        """The client, opened when it is first used."""
        if self._given is not None:
            return self._given
        if self._opened is None:
            from ragpg.providers.named import embedder_named

            model = embedder_named(self.embedder or "none")
            self._opened = connect(self.dsn.resolve_value(), embedder=model)
        return self._opened

    def close(self) -> None:
        """Close what was opened here; a client of the caller stays open."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def to_dict(self) -> dict[str, Any]:
        """The store as Haystack writes it. Raises ConfigError where a client was given."""
        if self._given is not None:
            raise ConfigError(
                "a store with a client of yours cannot be serialised",
                hint="Give dsn=Secret.from_env_var(...) and embedder=... by name instead.",
            )
        data: dict[str, Any] = default_to_dict(
            self, dsn=self.dsn.to_dict(), namespace=self.namespace, embedder=self.embedder
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """A store from what to_dict gave."""
        if isinstance(data["init_parameters"].get("dsn"), dict):
            deserialize_secrets_inplace(data["init_parameters"], keys=["dsn"])
        store: Self = default_from_dict(cls, data)
        return store

    def count_documents(self) -> int:
        """How many documents are stored."""
        sizes = {one.name: one.documents - one.failed for one in self.client.namespaces()}
        return sizes.get(self.namespace, 0)

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """All documents whose metadata pass, by id. Raises haystack's FilterError."""
        return [stored_document(hit) for hit in self._stored(filters)]

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Store documents; how many were. NONE is FAIL: nothing is written when one is there.

        Blank documents are left out. Raises ValueError for what is no list of documents,
        DuplicateDocumentError, and DocumentStoreError when one cannot be stored.
        """
        if not isinstance(documents, list) or not all(
            isinstance(one, Document) for one in documents
        ):
            raise ValueError("documents must be a list of Documents")
        chosen = self._chosen(documents, policy)
        texts = [as_document(one.id, one.content or "", one.meta) for one in chosen]
        if not texts:
            return 0
        try:
            report = self.client.ingest(texts=texts, namespace=self.namespace, chunker=AsGiven())
            return check_report(report)
        except RagpgError as error:
            raise DocumentStoreError(str(error)) from error

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents by id; unknown ones are no error."""
        self._delete(document_ids)

    def delete_all_documents(self, recreate_index: bool = False) -> None:
        """Delete every document. `recreate_index` drops the namespace with its settings and rights,
        and the next write makes a new one."""
        if recreate_index:
            self.client.drop_namespace(self.namespace)
        else:
            self._delete([hit.source for hit in self._stored()])

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that pass; how many there were."""
        return self._delete([hit.source for hit in self._stored(filters)])

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Set keys of the metadata of the documents that pass; how many there were. Raises
        DocumentStoreError for a document that ragpg cut into several chunks."""
        sources = list(dict.fromkeys(hit.source for hit in self._stored(filters)))
        hits = self.client.fetch(sources, namespace=self.namespace) if sources else []
        if parts := [hit.source for hit in hits if hit.chunk_index]:
            raise DocumentStoreError(
                f"{parts[0]} has several chunks: ingest it again with the new metadata"
            )
        documents = [stored_document(hit) for hit in hits]
        changed = [replace(one, meta={**one.meta, **meta}) for one in documents]
        self.write_documents(changed, DuplicatePolicy.OVERWRITE)
        return len(changed)

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """How many documents pass."""
        return len({hit.source for hit in self._stored(filters)})

    async def count_documents_async(self) -> int:
        """As count_documents."""
        return await asyncio.to_thread(self.count_documents)

    async def filter_documents_async(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """As filter_documents."""
        return await asyncio.to_thread(self.filter_documents, filters)

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """As write_documents."""
        return await asyncio.to_thread(self.write_documents, documents, policy)

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        """As delete_documents."""
        await asyncio.to_thread(self.delete_documents, document_ids)

    def _chosen(self, documents: list[Document], policy: DuplicatePolicy) -> list[Document]:
        """The documents to write. Another writer may still be faster: the last one counts."""
        if policy == DuplicatePolicy.OVERWRITE:
            return documents
        there = {hit.source for hit in self._stored(ids=[one.id for one in documents])}
        new: dict[str, Document] = {}
        for document in documents:
            if document.id not in there and document.id not in new:
                new[document.id] = document
            elif policy != DuplicatePolicy.SKIP:
                raise DuplicateDocumentError(f"the document {document.id!r} is there already")
        return list(new.values())

    def _stored(
        self, filters: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[Hit]:
        try:
            return self.client.fetch(ids, namespace=self.namespace, filter=translate(filters))
        except NamespaceNotFound:
            return []

    def _delete(self, sources: list[str]) -> int:
        try:
            return self.client.delete(sources, namespace=self.namespace)
        except NamespaceNotFound:
            return 0


def stored_document(hit: Hit) -> Document:
    """A stored chunk as it was written."""
    return Document(id=id_of(hit), content=hit.content, meta=dict(hit.metadata))
