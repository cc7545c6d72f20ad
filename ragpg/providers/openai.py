"""OpenAI and every service that speaks its protocol (Ollama, vLLM, TEI, Azure, LiteLLM).

The only importer of the openai library, which it loads at the first request.
"""

from __future__ import annotations

import asyncio
import json
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ragpg.errors import ConfigError, ProviderError
from ragpg.providers.batches import EmbeddingRequests, estimate_tokens
from ragpg.providers.retry import Fault, Patience, Requests, arun, request, run
from ragpg.providers.service import fault, read_completion, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragpg.types import Usage

#: Native lengths of OpenAI's own models, which save a request.
_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class _Service:
    """Clients of the openai library, made when first needed: one, and one per event loop."""

    def __init__(self, base_url: str | None, api_key: str | None, timeout: float) -> None:
        # Our own retries: the library waits at most a minute and also repeats a used-up quota.
        self._options = {
            "base_url": base_url,
            "api_key": api_key,
            "timeout": timeout,
            "max_retries": 0,
        }
        self._lock = Lock()
        self._client: Any = None
        self._clients: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def call(self, path: str, arguments: Mapping[str, Any]) -> Any:
        """The decoded answer of "embeddings" or "chat.completions", or a Fault."""
        client = self.client()
        from openai import APIError

        try:
            reply = _resource(client, path).with_raw_response.create(**arguments)
        except APIError as error:
            return _fault(client, error, arguments)
        return _decode(reply)

    async def acall(self, path: str, arguments: Mapping[str, Any]) -> Any:
        """As call, awaited."""
        client = self.aclient()
        from openai import APIError

        try:
            reply = await _resource(client, path).with_raw_response.create(**arguments)
        except APIError as error:
            return _fault(client, error, arguments)
        return _decode(reply)

    def client(self) -> Any:
        """The sync client. Raises ConfigError without the library or a key."""
        with self._lock:
            if self._client is None:
                self._client = self._make("OpenAI")
            return self._client

    def aclient(self) -> Any:
        """The client of the running event loop: connections cannot move between loops."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._clients:
                self._clients[loop] = self._make("AsyncOpenAI")
            return self._clients[loop]

    def close(self) -> None:
        """Closes the sync client's connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        with self._lock:
            client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def _make(self, name: str) -> Any:
        try:
            import openai
        except ImportError as error:
            raise ConfigError(
                f"this model needs the library {error.name}", hint="pip install 'ragpg[openai]'"
            ) from error
        try:
            return getattr(openai, name)(**self._options)
        except openai.OpenAIError:
            pass
        raise ConfigError(
            "no API key for the model service",
            hint="Set OPENAI_API_KEY or pass api_key= (any text for a server that asks for none).",
        )


class _Provider:
    """What embedder and generator share: model, service and patience."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        max_retries: int,
        max_wait_s: float,
    ) -> None:
        self._model = model
        self._service = _Service(base_url, api_key, timeout)
        self._patience = Patience(max_retries, max_wait_s)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    @property
    def model(self) -> str:
        """The model's name, as the service knows it."""
        return self._model

    def close(self) -> None:
        """Closes idle connections; the next request opens new ones."""
        self._service.close()

    async def aclose(self) -> None:
        """Closes idle connections of the running event loop."""
        await self._service.aclose()


class OpenAIEmbedder(_Provider):
    """Embeds through POST /embeddings.

    `dimensions` is sent only when given; without it the first answer tells (OpenAI's own models
    are known). `api_key` defaults to OPENAI_API_KEY, `base_url` to OPENAI_BASE_URL, then OpenAI.
    `batch_size` and `batch_tokens` bound one request; `max_input_tokens` cuts longer texts before
    they are sent, for services that would drop the rest silently. Tokens are counted by
    `count_tokens`, by default a high estimate. `timeout` is for one attempt, `max_retries` for
    faults other than rate limits, `max_wait_s` for all pauses of one request, in seconds;
    `query_max_wait_s` is that of a query, which somebody waits for.

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
    ) -> None:
        if min(batch_size, batch_tokens, dimensions or 1, max_input_tokens or 1) < 1:
            raise ConfigError("dimensions, batch and token limits must be at least 1")
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


class OpenAIGenerator(_Provider):
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


def _resource(client: Any, path: str) -> Any:
    for name in path.split("."):
        client = getattr(client, name)
    return client


def _decode(reply: Any) -> Any:
    # Decoded here and not by the library: it would check and copy every float of every vector,
    # and fail as a whole over one value that is no number.
    try:
        return json.loads(reply.http_response.content)
    except ValueError:
        return Fault(
            ProviderError("the service answered with something other than JSON"), again=True
        )


def _fault(client: Any, error: Any, sent: Mapping[str, Any]) -> Fault:
    url = str(client.base_url)
    return fault(error, url=url, secrets=secrets_of(client.api_key, url), sent=sent)
