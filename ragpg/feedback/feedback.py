"""The learning loop of a client, sync and async.

rag.feedback(result, used=[result.hits[2]])
Feedback(rag).summary("handbook")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragpg.feedback import flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.queries_learned import PassageFeedback


def _names(sources: str | Sequence[str] | None) -> Sequence[str] | None:
    return [sources] if isinstance(sources, str) else sources


class Feedback:
    """What a namespace has learned: to look at, to forget, to switch off."""

    def __init__(self, rag: Client) -> None:
        self._rag: Any = rag

    def summary(self, namespace: str = "default", *, k: int = 20) -> list[PassageFeedback]:
        """The passages with the strongest priors. What still waits is written first."""
        self._rag.flush_feedback()
        found: list[PassageFeedback] = self._rag.run(flows.summary(namespace, k))
        return found

    def reset(
        self, namespace: str = "default", *, sources: str | Sequence[str] | None = None
    ) -> int:
        """Forget all of a namespace (None), or some sources; how many counts that were."""
        self._rag.flush_feedback()
        return int(self._rag.run(flows.reset(namespace, _names(sources))))

    def switch(self, namespace: str, *, enabled: bool) -> None:
        """Off: nothing is counted or applied, and nothing forgotten. Raises NamespaceNotFound."""
        self._rag.run(flows.switch(namespace, enabled))


class AsyncFeedback:
    """The methods of Feedback, awaited."""

    def __init__(self, rag: AsyncClient) -> None:
        self._rag: Any = rag

    async def summary(self, namespace: str = "default", *, k: int = 20) -> list[PassageFeedback]:
        """As Feedback.summary."""
        await self._rag.flush_feedback()
        found: list[PassageFeedback] = await self._rag.run(flows.summary(namespace, k))
        return found

    async def reset(
        self, namespace: str = "default", *, sources: str | Sequence[str] | None = None
    ) -> int:
        """As Feedback.reset."""
        await self._rag.flush_feedback()
        return int(await self._rag.run(flows.reset(namespace, _names(sources))))

    async def switch(self, namespace: str, *, enabled: bool) -> None:
        """As Feedback.switch."""
        await self._rag.run(flows.switch(namespace, enabled))
