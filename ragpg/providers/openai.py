"""OpenAI and every service that speaks its protocol (Ollama, vLLM, TEI, Azure, LiteLLM)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.errors import ConfigError
from ragpg.providers.batches import EmbeddingRequests, estimate_tokens
from ragpg.providers.openai_service import Provider
from ragpg.providers.retry import Patience, Requests, arun, request, run
from ragpg.providers.service import read_completion, read_usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from ragpg.types import Usage

#: Native lengths of OpenAI's own models, which save a request.
_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class OpenAIEmbedder(Provider):
    """Embeds through POST /embeddings.

    `dimensions` is sent only when given; without it the first answer tells (OpenAI's own models
    are known). `api_key` defaults to OPENAI_API_KEY, `base_url` to OPENAI_BASE_URL, then OpenAI.
    `batch_size` and `batch_tokens` bound one request; `max_input_tokens` cuts longer texts before
    they are sent, for services that would drop the rest silently. Tokens are counted by
    `count_tokens`, by default a high estimate. `timeout` is for one attempt, `max_retries` for
    faults other than rate limits, `max_wait_s` for all pauses of one request, in seconds;
    `query_max_wait_s` is that of a query, which somebody waits for. Ingestion keeps at most
    `parallel_requests` in flight; while the service has one of them wait, all wait.

    A text too long for the model is embedded as the mean of its parts, weighted by length; a
    query is shortened. Both are logged as warnings.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        batch_size: int = 128,
        batch_tokens: int = 100_000,
        max_input_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        timeout: float = 60.0,
        max_retries: int = 3,
        max_wait_s: float = 60.0,
        query_max_wait_s: float = 5.0,
        parallel_requests: int = 4,
    ) -> None:
        if min(batch_size, batch_tokens, dimensions or 1, max_input_tokens or 1) < 1:
            raise ConfigError("dimensions, batch and token limits must be at least 1")
        self.parallel_requests = max(1, parallel_requests)
        super().__init__(
            model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            max_wait_s=max_wait_s,
        )
        self._requests = EmbeddingRequests(
            model=model,
            sent_dimensions=dimensions,
            dimensions=dimensions or _DIMENSIONS.get(model),
            patience=self._patience,
            query_patience=Patience(max_retries, query_max_wait_s),
            batch_size=batch_size,
            batch_tokens=batch_tokens,
            max_input_tokens=max_input_tokens,
            count_tokens=count_tokens or estimate_tokens,
        )

    @property
    def dimensions(self) -> int:
        """Length of every vector. Sends one request where neither setting nor answer told yet."""
        if (known := self._requests.dimensions) is not None:
            return known
        return len(self.embed_query("dimensions"))

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order. Raises ProviderError, whose `partial` holds the vectors
        that arrived before."""
        return run(self._requests.documents(texts), self._call)

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query. Raises ProviderError, without a request for a blank one."""
        return run(self._requests.query(text), self._call)

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """As embed_documents, awaited."""
        return await arun(self._requests.documents(texts), self._acall)

    async def aembed_query(self, text: str) -> list[float]:
        """As embed_query, awaited."""
        return await arun(self._requests.query(text), self._acall)

    def _call(self, arguments: Mapping[str, Any]) -> Any:
        return self._service.call("embeddings", arguments)

    async def _acall(self, arguments: Mapping[str, Any]) -> Any:
        return await self._service.acall("embeddings", arguments)


class OpenAIGenerator(Provider):
    """Answers through POST /chat/completions.

    `prices` are USD per million input and output tokens; without them no cost is told. Further
    keyword arguments (temperature, max_tokens, ...) go into every request, and those of a call
    over them. The rest is as for OpenAIEmbedder.
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,
        max_retries: int = 3,
        max_wait_s: float = 60.0,
        prices: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
            max_wait_s=max_wait_s,
        )
        self._prices = prices
        self._options = options

    def generate(self, messages: Sequence[Mapping[str, str]], **options: Any) -> tuple[str, Usage]:
        """The answer and what it cost. Raises ContextTooLong, RateLimited or ProviderError."""

        def call(arguments: Mapping[str, Any]) -> Any:
            return self._service.call("chat.completions", arguments)

        return run(self._chat(messages, options), call)

    async def agenerate(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> tuple[str, Usage]:
        """As generate, awaited."""

        async def call(arguments: Mapping[str, Any]) -> Any:
            return await self._service.acall("chat.completions", arguments)

        return await arun(self._chat(messages, options), call)

    def stream(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> Iterator[str | Usage]:
        """The answer piece by piece, and the usage where the service tells it. Closing it ends the
        request. Raises as generate, also in the middle."""
        arguments = self._streamed(messages, options)
        chunks = run(request(arguments, self._patience, _same), self._service.open)
        try:
            with chunks:
                for chunk in chunks:
                    yield from _pieces(chunk, self._prices)
        except Exception as error:
            raise self._service.broken(error, arguments) from None

    async def astream(
        self, messages: Sequence[Mapping[str, str]], **options: Any
    ) -> AsyncIterator[str | Usage]:
        """As stream, awaited."""
        arguments = self._streamed(messages, options)
        chunks = await arun(request(arguments, self._patience, _same), self._service.aopen)
        try:
            async with chunks:
                async for chunk in chunks:
                    for piece in _pieces(chunk, self._prices):
                        yield piece
        except Exception as error:
            raise self._service.broken(error, arguments) from None

    def _streamed(
        self, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._options,
            **options,
        }

    def _chat(
        self, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]
    ) -> Requests[tuple[str, Usage]]:
        arguments = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            **self._options,
            **options,
        }

        def read(answer: Any) -> tuple[str, Usage]:
            return read_completion(answer, prices=self._prices)

        return (yield from request(arguments, self._patience, read))


def _same(value: Any) -> Any:
    return value


def _pieces(chunk: Any, prices: tuple[float, float] | None) -> Iterator[str | Usage]:
    # The last chunk has the usage and no choice; some services send it with a choice.
    for choice in chunk.choices or ():
        if choice.delta is not None and choice.delta.content:
            yield choice.delta.content
    if chunk.usage is not None:
        yield read_usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens, prices)
