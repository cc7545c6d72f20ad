"""Vectors in the cache whose text is gone are forgotten, some time after.

The cache is there so that a file that is moved, taken back or read again embeds nothing; so a
vector outlives its text by `Settings.vector_retention` days.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragpg.queries_store import PRUNE_CACHE
from ragpg.steps import Flow, fetch

if TYPE_CHECKING:
    from collections.abc import Callable

#: How many go in one transaction.
BATCH = 10_000
#: How often who has nothing else to do looks for them, in seconds.
EVERY = 3600.0
_DAY = 86_400.0


def prune_embedding_cache(days: float, go_on: Callable[[], bool] = lambda: True) -> Flow[int]:
    """Forget the cached vectors whose texts have been gone for so many days; how many there were.

    0 where this role may not. Each batch is a transaction of its own, and the next one begins only
    if `go_on` says so.
    """
    pruned = 0
    while True:
        [found] = yield from fetch(PRUNE_CACHE, {"seconds": days * _DAY, "k": BATCH}, timeout=0)
        pruned += found or 0
        if not found or found < BATCH or not go_on():
            return pruned


class Sweep:
    """When it is time for one who works on and on to prune; where that takes long, seldom.

    `every` is seconds from one look to the next, the first one counted from now; None: EVERY.
    """

    def __init__(self, every: float | None = None) -> None:
        self.every = EVERY if every is None else every
        self.due = time.monotonic() + self.every

    @property
    def is_due(self) -> bool:
        """Whether the time has come."""
        return time.monotonic() >= self.due

    def prune(self, days: float, go_on: Callable[[], bool] = lambda: True) -> Flow[int]:
        """Prune, and wait for the next time: at least a hundred times as long as it took. That
        time comes also where it fails. What `go_on` has broken off is due at once."""
        began = time.monotonic()
        self.due = began + self.every
        pruned = yield from prune_embedding_cache(days, go_on)
        took = time.monotonic() - began
        is_broken_off = pruned > 0 and pruned % BATCH == 0
        self.due = began if is_broken_off else began + max(self.every, 100 * took)
        return pruned
