"""Reranking by a service over HTTP: Cohere, Jina, Text Embeddings Inference, and what speaks alike.

vLLM, LocalAI, Infinity, Mixedbread and many gateways take the Cohere or the Jina form.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ragpg.errors import ConfigError, ProviderError
from ragpg.observe.stage import note
from ragpg.providers.retry import Fault, Patience, Requests, arun, request, run
from ragpg.providers.service import fault, secrets_of
from ragpg.rerankers.passages import passage, reordered
from ragpg.rerankers.ranking import read_ranking
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import Hit

Shape: TypeAlias = Literal["cohere", "jina", "tei"]

#: Address, model and the variable that holds the key, where nothing else is said.
_KNOWN: dict[str, tuple[str, str, str]] = {
    "cohere": ("https://api.cohere.com/v2/rerank", "rerank-v3.5", "COHERE_API_KEY"),
    "jina": ("https://api.jina.ai/v1/rerank", "jina-reranker-v2-base-multilingual", "JINA_API_KEY"),
    "tei": ("", "", "TEI_API_KEY"),
}


class HTTPReranker:
    """Reranks by a service.

    The order comes from the scores, whatever order the service answers in. Entries for unknown or
    repeated passages are ignored with a warning in the log; passages without an entry come behind
    the others in their old order. Every failure is an exception, which keeps the earlier order.

    Scores are the service's own, on the scale "<shape> <model>": those of Cohere and Jina lie
    between 0 and 1, those of compatible services may be logits of any size. Set a `min_score`
    (`ragpg.rerankers.chain.RerankStage`) for the model that you use.

    shape       the form of the request: "cohere" (v2), "jina" or "tei"
    url         where requests go; TEI needs it, as http://localhost:8080/rerank
    api_key     default: COHERE_API_KEY, JINA_API_KEY or TEI_API_KEY of the environment
    candidates  so many hits are sent; `characters` of each, the rest is cut off
    top_n       ask for so many scores only; None: for all
    timeout     seconds for everything, retries included, and `retries` of a failed request
    """

    def __init__(
        self,
        shape: Shape = "cohere",
        *,
        url: str | None = None,
        model: str | None = None,
        api_key: str | None = None,
        candidates: int = 50,
        characters: int = 4000,
        top_n: int | None = None,
        timeout: float = 10.0,
        retries: int = 2,
    ) -> None:
        if shape not in _KNOWN:
            raise ConfigError(f"shape is one of {', '.join(_KNOWN)}, not {shape!r}")
        if min(candidates, characters) < 1 or not timeout > 0 or retries < 0:
            raise ConfigError(
                "candidates and characters must be 1 or more, timeout above 0, retries 0 or more"
            )
        known_url, known_model, variable = _KNOWN[shape]
        self.url = url or known_url
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ConfigError(
                f"a {shape} reranker needs the address of its service",
                hint='Give url="http://localhost:8080/rerank".',
            )
        self.shape: Shape = shape
        self.model = known_model if model is None else model
        self.candidates = candidates
        self.timeout = timeout
        self._characters = characters
        self._top_n = top_n
        self._key = api_key if api_key is not None else os.environ.get(variable, "")
        self._patience = Patience(retries=retries, seconds=timeout)
        self._lock = Lock()
        self._client: Any = None
        self._clients: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"HTTPReranker({self.shape!r}, url={self.url!r}, model={self.model!r})"

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"{self.shape} {self.model}".strip()

    @property
    def scale(self) -> str:
        """What its scores are called: a model's scores mean nothing to another's threshold."""
        return self.name

    def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits by the service's scores. Raises ProviderError, RateLimited among them."""
        sent = hits[: self.candidates]
        if not sent:
            return list(hits)
        return reordered(hits, run(self._flow(query, sent), self._call), self.scale)

    async def arerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """As rerank, awaited."""
        sent = hits[: self.candidates]
        if not sent:
            return list(hits)
        return reordered(hits, await arun(self._flow(query, sent), self._acall), self.scale)

    def _flow(self, query: str, hits: Sequence[Hit]) -> Requests[list[float | None]]:
        texts = [passage(hit, self._characters) for hit in hits]

        def read(answer: Any) -> list[float | None]:
            self._note(answer)
            return read_ranking(answer, len(hits))

        return request(self._body(query, texts), self._patience, read)

    def _note(self, answer: Any) -> None:
        """Count what the service says it will charge: searches (Cohere) or tokens (Jina)."""
        given = answer if isinstance(answer, Mapping) else {}
        searches = _count(given, "meta", "billed_units", "search_units")
        tokens = _count(given, "usage", "total_tokens")
        note(self.model or self.name, Usage(input_tokens=tokens), searches=searches)

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self.shape == "tei":
            return {"query": query, "texts": list(texts), "truncate": True}
        body: dict[str, Any] = {"model": self.model, "query": query, "documents": list(texts)}
        if self._top_n is not None:
            body["top_n"] = self._top_n
        if self.shape == "jina":
            body["return_documents"] = False
        return body

    def _call(self, body: Mapping[str, Any]) -> Any:
        import httpx2 as httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(timeout=self.timeout, follow_redirects=False)
        try:
            return self._read(self._client.post(self.url, json=body, headers=self._headers), body)
        except httpx.HTTPError as error:
            return self._fault(error, body)

    async def _acall(self, body: Mapping[str, Any]) -> Any:
        import httpx2 as httpx

        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = httpx.AsyncClient(timeout=self.timeout, follow_redirects=False)
            self._clients[loop] = client
        try:
            return self._read(await client.post(self.url, json=body, headers=self._headers), body)
        except httpx.HTTPError as error:
            return self._fault(error, body)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _read(self, reply: Any, body: Mapping[str, Any]) -> Any:
        """The decoded answer, or a Fault."""
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if reply.is_success:
            return answer
        return self._fault(_Refused(reply, answer), body)

    def _fault(self, error: Exception, body: Mapping[str, Any]) -> Fault:
        secrets = secrets_of(self._key, self.url)
        found = fault(error, url=self.url, secrets=secrets, sent=body)
        if getattr(error, "status_code", None) in (401, 403):
            variable = _KNOWN[self.shape][2]
            said = ProviderError(
                found.error.message,
                hint=f"Check the API key ({variable} or api_key=) and what it may use.",
                scope="service",
            )
            return Fault(said)
        return found


def _count(answer: Mapping[str, Any], *path: str) -> int:
    found: Any = answer
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    known = isinstance(found, int | float) and not isinstance(found, bool) and found > 0
    return int(found) if known else 0


class _Refused(Exception):
    """An answer that is no success, with the attributes that `fault` reads."""

    def __init__(self, reply: Any, body: Any) -> None:
        super().__init__(f"status {reply.status_code}")
        self.status_code = int(reply.status_code)
        self.body = body if body is not None else reply.text[:300]
        self.response = reply
