"""What one can ask of the learning loop, as flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.queries_learned import FEEDBACK_SUMMARY, RESET_FEEDBACK, SET_FEEDBACK, PassageFeedback
from ragpg.steps import Flow, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Sequence


def summary(namespace: str, k: int) -> Flow[list[PassageFeedback]]:
    """What was learned of the passages of a namespace, the strongest first."""
    return (yield from fetch(FEEDBACK_SUMMARY, {"namespace": namespace, "k": k}))


def reset(namespace: str, sources: Sequence[str] | None) -> Flow[int]:
    """Forget a namespace, or some sources in it; how many rows that were."""
    values = {"namespace": namespace, "sources": None if sources is None else list(sources)}
    count: int = yield from fetch_one(RESET_FEEDBACK, values)
    return count


def switch(namespace: str, enabled: bool) -> Flow[None]:
    """Switch a namespace on or off. Raises NamespaceNotFound."""
    yield from fetch(SET_FEEDBACK, {"namespace": namespace, "enabled": enabled})
