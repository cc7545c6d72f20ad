"""Results of searches, kept in the memory of a client and valid as long as nobody writes.

What a search sees has a name (ragpg.search_version), which every write to its namespaces changes in
the transaction that writes. It is asked for before the search: a result is never newer than its
name, so one that is found under the name of now is what a search of now would find.
"""

from __future__ import annotations

import hashlib
import math
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ragpg.errors import ConfigError, DatabaseError, NamespaceNotFound
from ragpg.observe.stage import stage, tell
from ragpg.queries import SEARCH_VERSION
from ragpg.query.retrieve import split_arms
from ragpg.stages import reason, since
from ragpg.steps import Flow, fetch_one
from ragpg.types import ArmReport

if TYPE_CHECKING:
    from ragpg.query.request import Providers, Request
    from ragpg.types import SearchResult

#: The clock of `ttl`: a name of this module, so that a test can turn it here alone.
_clock = time.monotonic
#: What an entry takes beside its data, about, in bytes.
_ENTRY = 1000
#: What of a request only matters to a chat model that is asked afterwards.
_LATER = ("gate", "unsupported", "prompt")
#: What of it only matters where a text is checked.
_CHECKS = ("judge", "judge_timeout", "lexical")


@dataclass(frozen=True, slots=True)
class CacheStats:
    """`stale` misses found a result that a write had made old; `evicted` results made room.
    `rate` is the share of hits, 0 without any search."""

    hits: int = 0
    misses: int = 0
    stale: int = 0
    evicted: int = 0
    entries: int = 0
    bytes: int = 0

    @property
    def rate(self) -> float:
        """The share of searches that were answered from the cache."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class _Entry(NamedTuple):
    version: str
    born: float
    data: bytes


class Cache:
    """Results of searches; give it to `ragpg.connect(cache=...)`. May be used by several threads.

        rag = ragpg.connect(cache=ragpg.Cache(max_bytes=64_000_000, ttl=300))

    max_bytes  of all results together; the one that was not used for longest makes room
    ttl        seconds after which a result is searched anew, whatever its version

    A hit asks the database for the version and nothing else: no embedder, no arms, no reranker.
    Results are kept as bytes, so that nobody who is given one can change what others get. Never
    kept are searches in which a stage failed, those of external retrievers or functions of the
    user's own, and those in a transaction that has written.
    """

    def __init__(self, *, max_bytes: int = 64_000_000, ttl: float = 300.0) -> None:
        numbers = isinstance(max_bytes, int) and isinstance(ttl, (int, float))
        if not numbers or not max_bytes > 0 or not 0 < ttl < math.inf:
            raise ConfigError("max_bytes and ttl of a cache must be numbers greater than 0")
        self.max_bytes, self.ttl = max_bytes, ttl
        self._entries: OrderedDict[Any, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._bytes = self._hits = self._misses = self._stale = self._evicted = 0

    @property
    def stats(self) -> CacheStats:
        """Counts since it was made, and what it holds."""
        with self._lock:
            return CacheStats(
                self._hits,
                self._misses,
                self._stale,
                self._evicted,
                len(self._entries),
                self._bytes,
            )

    def clear(self) -> None:
        """Forget all results; the counts stay."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get(self, key: Any, version: str) -> SearchResult | None:
        """The result of a key where it is of this version; a copy that is the caller's."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                late = _clock() - found.born > self.ttl
                if late or found.version != version:
                    self._stale += not late
                    self._drop(key)
                    found = None
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(key)
        result: SearchResult = pickle.loads(found.data)
        return result

    def put(self, key: Any, version: str, result: SearchResult) -> None:
        """Keep a result that was found after the version was read."""
        data = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        size = len(data) + _ENTRY
        if size > self.max_bytes:
            return
        with self._lock:
            self._drop(key)
            self._entries[key] = _Entry(version, _clock(), data)
            self._bytes += size
            while self._bytes > self.max_bytes:
                self._drop(next(iter(self._entries)))
                self._evicted += 1

    def _drop(self, key: Any) -> None:
        gone = self._entries.pop(key, None)
        if gone is not None:
            self._bytes -= len(gone.data) + _ENTRY


def cached(
    cache: Cache, request: Request, providers: Providers, found: Flow[SearchResult]
) -> Flow[SearchResult]:
    """A result from the cache, else what the flow finds, which is kept where it may be; the report
    says which ("cache")."""
    began = time.perf_counter()
    version = caller = None
    own, why = None, _unfit(request, providers)
    try:
        own = _key(request, providers)
    except Exception as error:  # a value of the user's own that cannot be written down
        why = why or f"there is no key: {reason(error)}"
    if why is None:
        names = {"namespaces": list(request.namespaces)}
        try:
            version, caller = yield from stage("cache", fetch_one(SEARCH_VERSION, names))
        except NamespaceNotFound:
            raise
        except DatabaseError as error:
            why = f"there is no version: {reason(error)}"
        else:
            why = "nothing may be kept here" if version is None else None
    if why is not None or version is None:
        result = yield from found
        return _reported(result, ArmReport(ms=since(began), skipped=why))
    key = (caller, own)
    known = cache.get(key, version)
    took = since(began)
    if known is not None:
        found.close()
        tell(cache="hit")
        return _reported(known, _report(cache, "hit", took, len(known.hits)))
    result = yield from found
    tell(cache="miss")
    said = _report(cache, "miss", took, 0)
    if _whole(result):
        try:
            cache.put(key, version, result)
        except Exception as error:  # a value of the user's own that cannot be copied
            said = replace(said, error=f"not kept: {reason(error)}")
    return _reported(result, said)


def _report(cache: Cache, mode: str, ms: float, rows: int) -> ArmReport:
    stats = cache.stats
    signals = {"hits": float(stats.hits), "misses": float(stats.misses), "rate": stats.rate}
    return ArmReport(rows=rows, ms=ms, mode=mode, signals=signals)


def _reported(result: SearchResult, cache: ArmReport) -> SearchResult:
    return replace(result, report={**result.report, "cache": cache})


def _unfit(request: Request, providers: Providers) -> str | None:
    """Why a request has no key, or its result no version."""
    arms = request.chosen_arms
    if not (arms is None or isinstance(arms, list | tuple | Mapping)):
        return "arms can be read only once"
    if split_arms(arms, [one.name for one in providers.retrievers]).external:
        return "external retrievers have no version"
    options = arms.values() if isinstance(arms, Mapping) else ()
    if any(isinstance(one, Mapping) and "function" in one for one in options):
        return "functions of others have no version"
    return None


def _whole(result: SearchResult) -> bool:
    """Whether a search found what it finds when nothing fails."""
    arms = result.report.values()
    judged = result.grounding is None or not result.grounding.notes
    fused = result.fusion is None or result.fusion.error is None
    in_time = all(arm.skipped != "time budget used up" for arm in arms)
    return judged and fused and in_time and not any(arm.error for arm in arms)


class _Same:
    """Stands for an object that is compared by identity, and keeps it alive."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


def _key(request: Request, providers: Providers) -> Any:
    """All of a request that its result depends on, and the models it asks: a digest of what can be
    written down, and what is compared by identity."""
    left_out = _LATER if request.answer is not None else (*_LATER, *_CHECKS)
    own = [getattr(request, one.name) for one in fields(request) if one.name not in left_out]
    held: list[_Same] = []
    text = repr(_part([*own, providers.embedder, providers.generator], held))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), tuple(held)


def _part(value: Any, held: list[_Same]) -> Any:
    """A value as something to write down: plain values with their type (1, 1.0 and true are three
    filters), collections and dataclasses by their parts; all else, and classes, go to `held`."""
    if value is None or isinstance(value, str | bytes | int | float):
        return type(value).__name__, value
    if isinstance(value, Real):
        return "float", float(value)
    if isinstance(value, Mapping):
        pairs = [(_part(name, held), _part(one, held)) for name, one in value.items()]
        return "mapping", sorted(pairs, key=repr)
    held.append(_Same(type(value)))
    if is_dataclass(value) and not isinstance(value, type):
        return "dataclass", [_part(getattr(value, one.name), held) for one in fields(value)]
    # Chains of rerankers and embedders are collections of their own.
    stages = getattr(value, "stages", value)
    if isinstance(stages, Iterable):
        return "list", [_part(one, held) for one in stages]
    held.append(_Same(value))
    return "same", len(held)
