"""Sums by key, kept in memory until there are enough of them, or they have waited long enough.

Nothing that goes wrong with them reaches whoever searches: a batch that cannot be written is kept
for the next one, up to a limit, and then the oldest sums are given up.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragpg.errors import ConfigError, RagpgError
from ragpg.steps import Flow, Query, fetch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Key = TypeVar("Key", bound=tuple[Any, ...])

#: How long one batch may take to write, in seconds.
_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Batching:
    """When counts are written: after `size` of them, or `seconds` after the first of them, at the
    next call. At most `kept` sums wait; `kept` also bounds what a lost database costs."""

    size: int = 200
    seconds: float = 10.0
    kept: int = 20_000

    def __post_init__(self) -> None:
        for name in ("size", "seconds", "kept"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"batching {name} must be greater than 0")


class Counts(Generic[Key]):
    """Sums of one client, under the name `what`. May be used by several threads.

    `query` takes them as %(events)s, a JSON list of objects with the fields of key and sums.
    """

    def __init__(
        self,
        what: str,
        query: Query[Any],
        key: Sequence[str],
        sums: Sequence[str],
        batching: Batching | None = None,
    ) -> None:
        self.batching = batching or Batching()
        #: Sums given up because too many were waiting.
        self.lost = 0
        self._what, self._query, self._names = what, query, (*key, *sums)
        self._log = logging.getLogger(f"ragpg.{what}")
        self._sums: OrderedDict[Key, list[Any]] = OrderedDict()
        self._waiting = 0
        self._since: float | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def count(self, entries: Iterable[tuple[Key, Sequence[Any]]]) -> bool:
        """Add to the sums of keys; whether it is time to write."""
        with self._lock:
            for key, values in entries:
                self._add(key, values)
                self._waiting += 1
            if self._since is None and self._sums:
                self._since = time.monotonic()
        return self.is_due

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        since = self._since
        late = since is not None and time.monotonic() - since >= self.batching.seconds
        return self._waiting >= self.batching.size or late

    def write(self) -> Flow[int]:
        """Write what waits; how many rows that made. Never raises for what the database does."""
        if not self._writing.acquire(blocking=False):
            return 0
        taken: OrderedDict[Key, list[Any]] | None = None
        try:
            with self._lock:
                taken, self._sums = self._sums, OrderedDict()
                self._waiting, self._since = 0, None
            if not taken:
                return 0
            events = [
                dict(zip(self._names, (*key, *values), strict=True))
                for key, values in taken.items()
            ]
            parameters = {"events": json.dumps(events)}
            [rows] = yield from fetch(self._query, parameters, timeout=_TIMEOUT)
            taken = None
        except Exception as error:  # whatever it is, the caller only wanted to be helpful
            reason = error.message if isinstance(error, RagpgError) else type(error).__name__
            self._log.warning("%s was not written, and is kept: %s", self._what, reason)
            return 0
        finally:
            # Also where the task was cancelled or the program interrupted.
            if taken:
                self._put_back(taken)
            self._writing.release()
        return int(rows)

    def _put_back(self, taken: OrderedDict[Key, list[Any]]) -> None:
        with self._lock:
            newer, self._sums = self._sums, taken
            for key, values in newer.items():
                self._add(key, values)
            self._since = time.monotonic()

    def _add(self, key: Key, values: Sequence[Any]) -> None:
        found = self._sums.get(key)
        if found is None:
            self._sums[key] = list(values)
        else:
            found[:] = [one + more for one, more in zip(found, values, strict=True)]
        while len(self._sums) > self.batching.kept:
            _, gone = self._sums.popitem(last=False)
            self.lost += gone[0]
