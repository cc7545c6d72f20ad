"""The openai library behind the providers: clients, requests, faults. Its only importer; it is
loaded at the first request."""

from __future__ import annotations

import asyncio
import json
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ragpg.errors import ConfigError, ProviderError
from ragpg.providers.retry import Fault, Patience
from ragpg.providers.service import fault, hide, secrets_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Service:
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

    def open(self, arguments: Mapping[str, Any]) -> Any:
        """A chat completion as a stream of the library's chunks, or a Fault."""
        client = self.client()
        from openai import APIError

        try:
            return client.chat.completions.create(**arguments)
        except APIError as error:
            return _fault(client, error, arguments)

    async def aopen(self, arguments: Mapping[str, Any]) -> Any:
        """As open, awaited."""
        client = self.aclient()
        from openai import APIError

        try:
            return await client.chat.completions.create(**arguments)
        except APIError as error:
            return _fault(client, error, arguments)

    def broken(self, error: Exception, arguments: Mapping[str, Any]) -> ProviderError:
        """What ended a stream in the middle, in our terms; the error itself if it is not theirs."""
        from openai import APIError

        if not isinstance(error, APIError):
            raise error
        client = self._client or next(iter(self._clients.values()))
        found = _fault(client, error, arguments).error
        if getattr(error, "body", None) and getattr(error, "status_code", None) is None:
            # An error event inside the stream has a text and no status.
            said = hide(str(error), secrets_of(client.api_key, str(client.base_url)))[:300]
            found = ProviderError(f"the answer broke off: {said}", scope="service")
        return found

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


class Provider:
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
        self._service = Service(base_url, api_key, timeout)
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
