"""Embeddings of LangChain as an embedder of ragpg, and the other way round."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import Embedder


class LangChainEmbedder:
    """An embedder of ragpg over Embeddings of LangChain.

    model       names the embedding space; None: the class and the model that the embeddings name.
                Two models must never have one name
    dimensions  length of the vectors; None: found out by embedding one word
    """

    def __init__(
        self, embeddings: Embeddings, *, model: str | None = None, dimensions: int | None = None
    ) -> None:
        self.embeddings = embeddings
        self._model = model or _name(embeddings)
        self._known = dimensions

    @property
    def model(self) -> str:
        """The name of the embedding space."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._known or self._measured

    @cached_property
    def _measured(self) -> int:
        return len(self.embeddings.embed_query("dimensions"))

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        return self.embeddings.embed_documents(list(texts))

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query."""
        return self.embeddings.embed_query(text)

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """As embed_documents."""
        return await self.embeddings.aembed_documents(list(texts))

    async def aembed_query(self, text: str) -> list[float]:
        """As embed_query."""
        return await self.embeddings.aembed_query(text)


class RagpgEmbeddings(Embeddings):
    """Embeddings of LangChain over an embedder of ragpg."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query."""
        return self.embedder.embed_query(text)


def _name(embeddings: Embeddings) -> str:
    kind = type(embeddings).__name__
    for attribute in ("model", "model_name", "model_id", "deployment"):
        name = getattr(embeddings, attribute, None)
        if isinstance(name, str) and name:
            return f"langchain:{kind}:{name}"
    return f"langchain:{kind}"
