"""What an agent needs of a knowledge base: retrieve, index, describe, sync or async.

A retriever of one's own is enough for a Binding (ragpg.tools.knowledge): `index` and `describe` are
for whoever keeps the knowledge base, not for a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text; `source` is what an answer cites as [source]."""

    text: str
    source: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Passages, best first, and what finding them cost in USD, where that is known."""

    results: Sequence[Passage]
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What `index` did."""

    name: str
    documents: int
    chunks: int
    unchanged: int
    failed: int = 0
    cost_usd: float = 0.0

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.name}: {self.documents} documents, {self.chunks} chunks, "
            f"{self.unchanged} unchanged{failed} · ${self.cost_usd:.6f}"
        )


@dataclass(frozen=True, slots=True)
class Description:
    """What a knowledge base holds now; `models` are the embedding models of its vectors."""

    name: str
    description: str
    documents: int
    chunks: int
    failed: int = 0
    models: Sequence[str] = ()

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        counts = f"{self.documents} documents, {self.chunks} chunks{failed}"
        return f"{self.name}: {self.description} ({counts})"


@runtime_checkable
class Named(Protocol):
    """What a model is told of a source of knowledge."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


@runtime_checkable
class Retrieving(Named, Protocol):
    """What a turn needs; a retriever of your own will do."""

    def retrieve(self, query: str, *, top_k: int) -> Retrieval: ...


@runtime_checkable
class AsyncRetrieving(Named, Protocol):
    """As Retrieving, awaited."""

    async def aretrieve(self, query: str, *, top_k: int) -> Retrieval: ...


@runtime_checkable
class KnowledgeBase(Retrieving, Protocol):
    """A source of knowledge with its upkeep."""

    def index(self) -> IndexReport:
        """Bring it to what its documents are now."""
        ...

    def describe(self) -> Description:
        """What it holds now."""
        ...


@runtime_checkable
class AsyncKnowledgeBase(AsyncRetrieving, Protocol):
    """As KnowledgeBase, awaited."""

    async def aindex(self) -> IndexReport: ...

    async def adescribe(self) -> Description: ...
