"""A reranking service on the loopback that answers as a test says."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tests.http_service import HttpService, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping


class Service(HttpService):
    """Gives its replies (status, headers, body) in order, the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.headers: list[Mapping[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        super().__init__()
        self.url = self.url.replace("/v1", "/v2/rerank")

    def reply(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        place = min(len(self.requests), len(self.replies) - 1)
        self.requests.append(body)
        self.headers.append(headers)
        self.gate.wait(5)
        return self.replies[place]

    def stop(self) -> None:
        self.gate.set()
        super().stop()


def results(*pairs: tuple[Any, Any]) -> Reply:
    """A reply in the form of Cohere and Jina, of index and score."""
    return 200, {}, {"results": [{"index": i, "relevance_score": s} for i, s in pairs]}
