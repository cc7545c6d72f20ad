"""OpenAI and every service that speaks its protocol (Ollama, vLLM, TEI, Azure, LiteLLM).

The only importer of the openai library, which it loads at the first request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from ragpg.errors import BadEmbedding, ConfigError, ContextTooLong, ProviderError
from ragpg.providers.retry import Fault, Patience, Requests, arun, request, run
from ragpg.providers.service import fault, read_vectors, secrets_of, usable
from ragpg.types import Usage

log = logging.getLogger(__name__)

#: Native lengths of OpenAI's own models, which save a request.
_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
# Below this a refusal as too long cannot be about the length.
_SHORTEST_CUT = 32


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
        from openai import APIError

        client = self.client()
        try:
            reply = _resource(client, path).with_raw_response.create(**arguments)
        except APIError as error:
            return _fault(client, error, arguments)
        return _decode(reply)

    async def acall(self, path: str, arguments: Mapping[str, Any]) -> Any:
        """As call, awaited."""
        from openai import APIError

        client = self.aclient()
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
        self._query_patience = Patience(max_retries, query_max_wait_s)
        self._sent_dimensions = dimensions
        self._dimensions = dimensions or _DIMENSIONS.get(model)
        self._batch_size = batch_size
        self._batch_tokens = batch_tokens
        self._max_input_tokens = max_input_tokens
        self._count = count_tokens or estimate_tokens

    @property
    def dimensions(self) -> int:
        """Length of every vector. Sends one request where neither setting nor answer told yet."""
        if self._dimensions is None:
            self.embed_query("dimensions")
        assert self._dimensions is not None
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order. Raises ProviderError, whose `partial` holds the vectors
        that arrived before."""
        return run(self._documents(texts), self._call)

    def embed_query(self, text: str) -> list[float]:
        """The vector of one query. Raises ProviderError, without a request for a blank one."""
        return run(self._query(text), self._call)

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """As embed_documents, awaited."""
        return await arun(self._documents(texts), self._acall)

    async def aembed_query(self, text: str) -> list[float]:
        """As embed_query, awaited."""
        return await arun(self._query(text), self._acall)

    def _call(self, arguments: Mapping[str, Any]) -> Any:
        return self._service.call("embeddings", arguments)

    async def _acall(self, arguments: Mapping[str, Any]) -> Any:
        return await self._service.acall("embeddings", arguments)

    def _documents(self, texts: Sequence[str]) -> Requests[list[list[float]]]:
        done: dict[int, list[float]] = {}
        bad = [index for index, text in enumerate(texts) if not text.strip()]
        try:
            for batch in self._batches(texts, skip=set(bad)):
                yield from self._fill(done, batch, texts)
            bad += [index for index, vector in done.items() if not usable(vector)]
            if bad:
                blank = not texts[bad[0]].strip()
                why = "is blank" if blank else "has a vector with NaN, infinity or only zeros"
                raise BadEmbedding(f"text {bad[0]} {why}", scope="input")
        except ProviderError as error:
            error.partial = {index: vector for index, vector in done.items() if usable(vector)}
            raise
        return [done[index] for index in range(len(texts))]

    def _query(self, text: str) -> Requests[list[float]]:
        if not text.strip():
            raise ProviderError("a blank query has no embedding", scope="input")
        while True:
            try:
                [vector] = yield from self._send([text], self._query_patience)
            except ContextTooLong:
                if len(text) < _SHORTEST_CUT:
                    raise
                text = text[: len(text) // 2]
                log.warning("query shortened to %d characters for %s", len(text), self._model)
                continue
            if not usable(vector):
                raise BadEmbedding("the query has a vector with NaN, infinity or only zeros")
            return vector

    def _batches(self, texts: Sequence[str], skip: set[int]) -> Iterator[list[int]]:
        """Positions in batches within both limits; a text over the model's limit comes alone.

        The size is read again for every batch: it sinks when the service refuses a batch.
        """
        batch: list[int] = []
        total = 0
        for index, text in enumerate(texts):
            if index in skip:
                continue
            tokens = self._count(text)
            if self._max_input_tokens is not None and tokens > self._max_input_tokens:
                yield [index]
                continue
            if batch and (len(batch) >= self._batch_size or total + tokens > self._batch_tokens):
                yield batch
                batch, total = [], 0
            batch.append(index)
            total += tokens
        if batch:
            yield batch

    def _fill(
        self, done: dict[int, list[float]], batch: Sequence[int], texts: Sequence[str]
    ) -> Requests[None]:
        """Puts the vectors of a batch into `done`. A batch refused as too long goes on in halves;
        of a single text the halves are embedded."""
        if len(batch) == 1 and self._is_long(texts[batch[0]]):
            done[batch[0]] = yield from self._by_parts(texts[batch[0]])
            return
        try:
            vectors = yield from self._send([texts[index] for index in batch], self._patience)
        except ContextTooLong as error:
            if len(batch) == 1 and len(texts[batch[0]]) < _SHORTEST_CUT:
                raise
            if "batch" in error.message or "array" in error.message:
                self._batch_size = max(1, len(batch) // 2)
        else:
            done.update(zip(batch, vectors, strict=True))
            return
        if len(batch) == 1:
            done[batch[0]] = yield from self._by_parts(texts[batch[0]])
        else:
            middle = len(batch) // 2
            yield from self._fill(done, batch[:middle], texts)
            yield from self._fill(done, batch[middle:], texts)

    def _by_parts(self, text: str) -> Requests[list[float]]:
        parts = _halves(text)
        while any(map(self._is_long, parts)):
            parts = [half for part in parts for half in _halves(part)]
        log.warning(
            "a text of %d characters is too long for %s: embedded in parts", len(text), self._model
        )
        found: dict[int, list[float]] = {}
        yield from self._fill(found, range(len(parts)), parts)
        return _mean([found[index] for index in range(len(parts))], list(map(len, parts)))

    def _send(self, texts: list[str], patience: Patience) -> Requests[list[list[float]]]:
        # Strings, never token arrays, and plain floats: other vendors refuse tokens and base64.
        arguments: dict[str, Any] = {
            "model": self._model,
            "input": texts,
            "encoding_format": "float",
        }
        if self._sent_dimensions is not None:
            arguments["dimensions"] = self._sent_dimensions

        def read(answer: Any) -> list[list[float]]:
            return read_vectors(answer, count=len(texts), dimensions=self._dimensions)

        vectors = yield from request(arguments, patience, read)
        if self._dimensions is None:
            self._dimensions = len(vectors[0])
        return vectors

    def _is_long(self, text: str) -> bool:
        limit = self._max_input_tokens
        return limit is not None and len(text) >= _SHORTEST_CUT and self._count(text) > limit


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
        return (yield from request(arguments, self._patience, self._read))

    def _read(self, answer: Any) -> tuple[str, Usage]:
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        if not choices:
            raise ProviderError(f"{self._model} returned no choice")
        message = choices[0].get("message") or {}
        text = message.get("content")
        if not isinstance(text, str):
            reason = message.get("refusal") or choices[0].get("finish_reason")
            raise ProviderError(f"{self._model} returned no text: {str(reason)[:200]}")
        counted = answer.get("usage") or {}
        used = (counted.get("prompt_tokens") or 0, counted.get("completion_tokens") or 0)
        cost = None
        if self._prices is not None:
            cost = (used[0] * self._prices[0] + used[1] * self._prices[1]) / 1e6
        return text, Usage(input_tokens=used[0], output_tokens=used[1], cost_usd=cost)


def estimate_tokens(text: str) -> int:
    """A high estimate of tokens: a third of the UTF-8 bytes, and no fewer than the words."""
    return max(len(text.encode("utf-8", "surrogatepass")) // 3 + 1, len(text.split()))


def _halves(text: str) -> list[str]:
    """Two halves by characters, cut at a blank where one is near; without blank ones."""
    middle = len(text) // 2
    near = text.rfind(" ", middle - middle // 8, middle) + 1
    cut = near or middle
    return [half for half in (text[:cut], text[cut:]) if half.strip()]


def _mean(vectors: Sequence[Sequence[float]], weights: Sequence[int]) -> list[float]:
    """The weighted mean, at unit length."""
    columns = zip(*vectors, strict=True)
    sums = [sum(map(float.__mul__, column, map(float, weights))) for column in columns]
    length = math.hypot(*sums) or 1.0
    return [value / length for value in sums]


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
