"""What models cost, added up in the database by day, namespace, category and model.

Written in batches after the results, see ragpg.counts; a failure is logged and never raised.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragpg.counts import Batching, Counts
from ragpg.queries_learned import RECORD_USAGE, RESET_USAGE, USAGE_SUMMARY, UsageRow
from ragpg.steps import Flow, fetch, fetch_one

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from ragpg.observe.stage import Spent

Key = tuple[str, str, str, str]
Sums = tuple[int, int, int, float, int]

#: Tokens of one request; no model reads as many.
_MOST = 10**12


class Ledger(Counts[Key]):
    """The costs of one client. May be used by several threads."""

    def __init__(self, batching: Batching | None = None) -> None:
        super().__init__(
            "usage",
            RECORD_USAGE,
            ("day", "namespace", "category", "model"),
            ("requests", "input_tokens", "output_tokens", "cost_usd", "unpriced"),
            batching,
        )

    def add(self, spent: Iterable[Spent]) -> bool:
        """Count what requests to models cost; whether it is time to write."""
        day = datetime.now(UTC).date().isoformat()
        return self.count(
            ((day, namespace, one.category, one.model), sums)
            for one in spent
            for namespace, sums in _shares(one)
        )


def usage_of(namespace: str | None = None, since: date | None = None) -> Flow[list[UsageRow]]:
    """What models cost a namespace, or all, from a day (UTC) on; the latest day first.

    for row in rag.run(usage_of("handbook")): print(row.day, row.category, row.cost_usd)
    """
    return (yield from fetch(USAGE_SUMMARY, {"namespace": namespace, "since": since}))


def reset_usage(namespace: str | None = None, before: date | None = None) -> Flow[int]:
    """Forget what models cost a namespace, or all, before a day; how many rows that were. Raises
    NamespaceNotFound."""
    count: int = yield from fetch_one(RESET_USAGE, {"namespace": namespace, "before": before})
    return count


def _shares(spent: Spent) -> Iterator[tuple[str, Sums]]:
    """What each namespace of a request bears: equal shares, which add up to the whole."""
    names, usage = spent.namespaces, spent.usage
    # What a service says is not checked anywhere else, and one count that no column holds would
    # keep all the others from being written.
    counted = [min(max(one, 0), _MOST) for one in (usage.input_tokens, usage.output_tokens)]
    for place, name in enumerate(names):
        tokens = [whole // len(names) + (place < whole % len(names)) for whole in counted]
        # The request itself, and that its price is not known, is counted once.
        first = int(place == 0)
        cost = min(max(usage.cost_usd or 0.0, 0.0), float(_MOST)) / len(names)
        yield name, (first, *tokens, cost, first * (usage.cost_usd is None))  # type: ignore[misc]
