"""Showings, counted in memory until there are enough of them, or they have waited long enough.

Nothing that goes wrong with them reaches whoever searches: a batch that cannot be written is kept
for the next one, up to a limit, and then the oldest counts are given up.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError, RagpgError
from ragpg.queries import RECORD_FEEDBACK
from ragpg.steps import Flow, fetch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.feedback.attribution import Showing

_log = logging.getLogger("ragpg.feedback")

#: How long one batch may take to write, in seconds.
_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Batching:
    """When feedback is written: after `size` showings, or `seconds` after the first of them, at the
    next call. At most `kept` counts wait; `kept` also bounds what a lost database costs."""

    size: int = 200
    seconds: float = 10.0
    kept: int = 20_000

    def __post_init__(self) -> None:
        for name in ("size", "seconds", "kept"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"feedback {name} must be greater than 0")


class Recorder:
    """Counts of one client. May be used by several threads."""

    def __init__(self, batching: Batching | None = None) -> None:
        self.batching = batching or Batching()
        #: Given up because too many were waiting.
        self.lost = 0
        self._counts: OrderedDict[tuple[str, int, int], list[int]] = OrderedDict()
        self._waiting = 0
        self._since: float | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def add(self, showings: Iterable[Showing]) -> bool:
        """Count showings; whether it is time to write."""
        with self._lock:
            for one in showings:
                self._count((one.namespace, one.chunk_id, one.rank), 1, int(one.followed))
                self._waiting += 1
            if self._since is None and self._counts:
                self._since = time.monotonic()
            late = self._since is not None and (
                time.monotonic() - self._since >= self.batching.seconds
            )
            return self._waiting >= self.batching.size or late

    def write(self) -> Flow[int]:
        """Write what waits; how many rows that made. Never raises for what the database does."""
        if not self._writing.acquire(blocking=False):
            return 0
        taken: OrderedDict[tuple[str, int, int], list[int]] | None = None
        try:
            with self._lock:
                taken, self._counts = self._counts, OrderedDict()
                self._waiting, self._since = 0, None
            if not taken:
                return 0
            events = [
                {"namespace": name, "chunk_id": chunk, "rank": rank, "shown": shown,
                 "followed": followed}
                for (name, chunk, rank), (shown, followed) in taken.items()
            ]  # fmt: skip
            parameters = {"events": json.dumps(events)}
            [rows] = yield from fetch(RECORD_FEEDBACK, parameters, timeout=_TIMEOUT)
            taken = None
        except Exception as error:  # whatever it is, the caller only wanted to be helpful
            reason = error.message if isinstance(error, RagpgError) else type(error).__name__
            _log.warning("feedback was not written, and is kept: %s", reason)
            return 0
        finally:
            # Also where the task was cancelled or the program interrupted.
            if taken:
                self._put_back(taken)
            self._writing.release()
        return int(rows)

    def _put_back(self, taken: OrderedDict[tuple[str, int, int], list[int]]) -> None:
        with self._lock:
            newer, self._counts = self._counts, taken
            for key, (shown, followed) in newer.items():
                self._count(key, shown, followed)
            self._since = time.monotonic()

    def _count(self, key: tuple[str, int, int], shown: int, followed: int) -> None:
        found = self._counts.setdefault(key, [0, 0])
        found[0] += shown
        found[1] += followed
        while len(self._counts) > self.batching.kept:
            _, (gone, _) = self._counts.popitem(last=False)
            self.lost += gone
