"""Documents of LangChain: their ids, and hits as such."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from ragpg.adapters.langchain_embeddings import LangChainEmbedder, RagpgEmbeddings
from ragpg.adapters.texts import id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_core.embeddings import Embeddings

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.types import Hit, SearchResult


def made(
    texts: Iterable[str], metadatas: list[dict[str, Any]] | None, ids: list[str] | None
) -> list[Document]:
    """Documents of texts. Raises ValueError where the lists are not of one length."""
    listed = list(texts)
    for name, others in (("metadatas", metadatas), ("ids", ids)):
        if others and len(others) != len(listed):
            raise ValueError(f"there are {len(others)} {name} for {len(listed)} documents")
    return [
        Document(
            id=ids[place] if ids else None,
            page_content=text,
            metadata=metadatas[place] if metadatas else {},
        )
        for place, text in enumerate(listed)
    ]


def names_of(documents: list[Document], ids: list[str] | None) -> list[str]:
    """Those given, else the documents' own, else new ones. Raises ValueError for a wrong number."""
    if ids is None:
        return [document.id or str(uuid.uuid4()) for document in documents]
    if len(ids) != len(documents):
        raise ValueError(f"there are {len(ids)} ids for {len(documents)} documents")
    pairs = zip(ids, documents, strict=True)
    return [id or document.id or str(uuid.uuid4()) for id, document in pairs]


def by_vector(embedding: list[float]) -> dict[str, Any]:
    """Options of a search by the vector arm alone."""
    return {"embedding": embedding, "arms": ["vector"], "rerank": False}


def document_of(hit: Hit) -> Document:
    """A hit as the document that was stored."""
    return Document(id=id_of(hit), page_content=hit.content, metadata=dict(hit.metadata))


def plain(found: SearchResult) -> list[Document]:
    """The documents of a result."""
    return [document_of(hit) for hit in found.hits]


def scored(found: SearchResult) -> list[tuple[Document, float]]:
    """The documents of a result with the scores of the hits."""
    return [(document_of(hit), hit.score) for hit in found.hits]


def relevant(found: SearchResult) -> list[tuple[Document, float]]:
    """The documents that the vector arm found, with their cosines, 0 to 1."""
    return [
        (document_of(hit), min(max(hit.arms["vector"].score, 0.0), 1.0))
        for hit in found.hits
        if "vector" in hit.arms
    ]


def by_id(ids: Sequence[str], hits: Sequence[Hit]) -> list[Document]:
    """The documents with these ids, in their order, of the chunks given."""
    found = {id_of(hit): document_of(hit) for hit in hits}
    return [found[id] for id in dict.fromkeys(ids) if id in found]


def embeddings_of(client: Client | AsyncClient) -> Embeddings | None:
    """A client's embedder as LangChain knows such."""
    embedder: Any = client.embedder
    if isinstance(embedder, LangChainEmbedder):
        return embedder.embeddings
    return RagpgEmbeddings(embedder) if hasattr(embedder, "embed_query") else None
