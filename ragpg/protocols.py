"""The places where a user plugs in: small protocols, one job each.

A provider may be sync, async or both: the async client prefers the a-methods and otherwise runs
the sync ones in a thread; the sync client needs the sync ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from ragpg.types import Chunk, Document, Hit, Json, Judgement, Pair, Usage


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length.

    `model` names the embedding space together with `dimensions`: two embedders with the same
    pair must give interchangeable vectors. Optional is `reads(text)`, the share of a text, 0 to 1,
    that the model can make sense of: a search whose query it cannot read is left to the words.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order. `texts` holds no blank text and may be long: the
        embedder does its own batching and cuts over-long inputs. Raises ProviderError."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query. Raises ProviderError."""
        ...


@runtime_checkable
class AsyncEmbedder(Protocol):
    """The awaitable twin, preferred by the async client where it exists."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]: ...

    async def aembed_query(self, text: str) -> list[float]: ...


class Loader(Protocol):
    """Reads bytes as a document. Raises LoadError when they are not what they claim to be."""

    def __call__(self, data: bytes, *, source: str) -> Document: ...


class Chunker(Protocol):
    """Cuts a document into chunks.

    `settings` identifies the chunker and its parameters: when it changes, documents are cut anew.
    """

    @property
    def settings(self) -> str: ...

    def __call__(self, document: Document) -> Iterator[Chunk]: ...


class Extractor(Protocol):
    """Finds named entities in texts. `name` tells it apart from others, whose findings stay."""

    @property
    def name(self) -> str: ...

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Pairs of name and kind for each text, repeats included, in order."""
        ...


class Reranker(Protocol):
    """Reorders hits by relevance. Returns the same hits with new scores, best first, and never
    invents or loses one. An exception keeps the earlier order and is reported.

    Three attributes are optional: `candidates` (how many hits it wants to see), `timeout` (seconds
    it may take) and `scale` (what its scores are called in `Hit.score_kind`; default: its name). In
    a search `informed(search)` may give the one to run instead, and `flow(query, hits, search)` may
    do its work in steps: see ragpg.rerankers.chain.
    """

    @property
    def name(self) -> str: ...

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]: ...


@runtime_checkable
class AsyncReranker(Protocol):
    """The awaitable twin, preferred by the async client where it exists."""

    @property
    def name(self) -> str: ...

    async def arerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]: ...


@runtime_checkable
class Judge(Protocol):
    """Tells whether evidence supports a claim. An exception, or None for a pair, leaves it to the
    lexical judge, and is reported.

    Two attributes are optional: `candidates` (how many spans of evidence a claim it wants to see,
    best overlap first; 6 by default) and `flow(pairs)`, a generator of steps that does the same as
    `judge` in sync and async clients; without it the async client runs `judge` in a thread.
    """

    @property
    def name(self) -> str: ...

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement | None]:
        """One judgement a pair, in order."""
        ...


@runtime_checkable
class Generator(Protocol):
    """A chat model: messages of {"role", "content"} in, text and usage out.

    Raises ProviderError.
    """

    @property
    def model(self) -> str: ...

    def generate(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> tuple[str, Usage]: ...


@runtime_checkable
class AsyncGenerator(Protocol):
    """The awaitable twin of Generator."""

    @property
    def model(self) -> str: ...

    async def agenerate(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> tuple[str, Usage]: ...


@runtime_checkable
class StreamingGenerator(Protocol):
    """A chat model that gives its answer in pieces, and last a Usage where it knows one."""

    @property
    def model(self) -> str: ...

    def stream(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> Iterator[str | Usage]: ...


@runtime_checkable
class AsyncStreamingGenerator(Protocol):
    """The asynchronous twin of StreamingGenerator."""

    @property
    def model(self) -> str: ...

    def astream(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> AsyncIterator[str | Usage]: ...


@runtime_checkable
class Retriever(Protocol):
    """Another source of hits (an HTTP corpus, another table) that joins the fusion as an arm.

    Runs beside the SQL call. Hits come best first; their own scores are kept as the arm's scores.
    """

    @property
    def name(self) -> str: ...

    def retrieve(self, query: str, k: int, filter: Mapping[str, Json] | None) -> Sequence[Hit]: ...


@runtime_checkable
class AsyncRetriever(Protocol):
    """The awaitable twin of Retriever."""

    @property
    def name(self) -> str: ...

    async def aretrieve(
        self, query: str, k: int, filter: Mapping[str, Json] | None
    ) -> Sequence[Hit]: ...
