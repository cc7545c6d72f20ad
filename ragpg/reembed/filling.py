"""The flows of a change of model: fill a space, switch to it, drop one.

Every vector goes through the embedding cache, so what was computed is never computed again, and a
chunk that has its vector is not asked for: interrupted, a build goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragpg.embedders import embedder_of
from ragpg.errors import ConfigError, ProviderError, RateLimited
from ragpg.ingest.embedding import Space, embed_hashes
from ragpg.ingest.indexing import build
from ragpg.ingest.missing_vectors import PAGE, keys_of, next_page, store_page
from ragpg.observe.stage import observed
from ragpg.queries_spaces import (
    BEGIN_REEMBEDDING,
    DROP_SPACE,
    SPACES,
    SWITCH_SPACE,
    SpaceInfo,
)
from ragpg.queries_store import CREATE_SPACE
from ragpg.steps import Flow, Sleep, call, fetch, fetch_one
from ragpg.terminal import shell_argument
from ragpg.types import Usage
from ragpg.vectors import INDEX_FROM

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.queries_spaces import Unembedded

#: Pauses after a service has failed, in seconds: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What became of a space.

    `stored` chunks got a vector now, of which `computed` texts were embedded and the others taken
    from the cache. `refused` says by chunk id why the model gave none. `missing` chunks are without
    one. `complete` is false when the time was over before the chunks were.
    """

    namespace: str
    space_id: int
    model: str
    dimensions: int
    chunks: int = 0
    stored: int = 0
    computed: int = 0
    refused: Mapping[int, str] = field(default_factory=dict)
    missing: int = 0
    seconds: float = 0.0
    complete: bool = False
    indexed: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a space is filled. `per_second` chunks at most (None: as fast as it goes); stop
    after `seconds`; wait up to `patience` seconds in all for a service that fails.
    `prices` is the path of a table, see ragpg.prices."""

    per_second: float | None = None
    seconds: float | None = None
    patience: float = 300.0
    claim_ttl: float = 30.0
    prices: str | None = None


def build_space(
    namespace: str,
    embedder: Embedder | AsyncEmbedder,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> Flow[ReembedReport]:
    """Fill the embedding space of another model beside the one that a namespace is searched in.

    From its first step on, every ingest writes into both. Raises NamespaceNotFound, ConfigError
    when the namespace is searched with that model already, and ProviderError when the service
    fails for too long: what is stored stays.
    """
    model, dimensions = yield from call(lambda: (embedder.model, embedder.dimensions))
    known = yield from fetch(SPACES, {"namespace": namespace})
    active = next((one for one in known if one.state == "active"), None)
    if active is not None and (active.model, active.dimensions) == (model, dimensions):
        raise ConfigError(
            f"namespace {namespace!r} is searched with {model} ({dimensions} dimensions) already",
            hint="For chunks without a vector: ragpg reembed --missing "
            f"{shell_argument(namespace)}",
        )
    space_id = yield from fetch_one(CREATE_SPACE, {"model": model, "dimensions": dimensions})
    yield from fetch(BEGIN_REEMBEDDING, {"namespace": namespace, "space_id": space_id})
    space = Space(embedder, model, dimensions, space_id)
    return (yield from fill(namespace, space, pace=pace or Pace(), on_step=on_step))


def fill_missing_vectors(
    namespace: str,
    embedder: Embedder | AsyncEmbedder | None,
    *,
    pace: Pace | None = None,
    on_step: Callable[[ReembedReport], object] | None = None,
) -> Flow[ReembedReport]:
    """Try the chunks again that have no vector in the space that a namespace is searched in: the
    model refused them, or they were stored without an embedder. Raises as build_space."""
    if embedder is None:
        raise ConfigError("chunks cannot get vectors without an embedder")
    known = yield from fetch(SPACES, {"namespace": namespace})
    active = next((one for one in known if one.state == "active"), None)
    if active is None:
        raise ConfigError(
            f"namespace {namespace!r} has no vectors yet",
            hint="Give it some: ragpg reembed --embedder MODEL --switch "
            f"{shell_argument(namespace)}",
        )
    chosen = yield from call(embedder_of, embedder, active.model, active.dimensions)
    if chosen is None:
        raise ConfigError(
            f"namespace {namespace!r} is searched with {active.model} ({active.dimensions} "
            f"dimensions), the embedder is {embedder.model}",
            hint=f"To change the model: ragpg reembed --embedder MODEL {shell_argument(namespace)}",
        )
    space = Space(chosen, active.model, active.dimensions, active.space_id)
    return (yield from fill(namespace, space, pace=pace or Pace(), on_step=on_step))


@observed("reembed", category="reembed")
def fill(
    namespace: str,
    space: Space,
    *,
    pace: Pace,
    on_step: Callable[[ReembedReport], object] | None,
) -> Flow[ReembedReport]:
    """Give every chunk of a namespace its vector, pass by pass until one finds nothing to do."""
    work = _Filling(namespace, space, pace, on_step)
    while (yield from work.once()):
        pass
    report = work.report
    if not work.is_late:
        state = yield from _state(namespace, space)
        indexed = state.indexed
        if not indexed and state.vectors > INDEX_FROM:
            indexed = yield from build(space.id)
            # Chunks that came while the index was built.
            while (yield from work.once()):
                pass
            state = yield from _state(namespace, space)
        report = replace(
            work.report, missing=state.missing, complete=True, indexed=indexed or state.indexed
        )
    report = replace(report, seconds=time.perf_counter() - work.began)
    if on_step is not None:
        on_step(report)
    return report


def switch_space(
    namespace: str, *, model: str | None = None, back: bool = False, missing: int = 0
) -> Flow[SpaceInfo]:
    """Search a namespace in another space that it keeps: the one of `model`, the one that was built
    last, or with `back` the former one. Returns the space. Raises ConfigError where there is none,
    or where more than `missing` chunks would lose their vector."""
    known = yield from fetch(SPACES, {"namespace": namespace})
    kept = [one for one in known if one.state != "active"]
    wanted = "former" if back else "building"
    fitting = [one for one in kept if one.model == model] if model else [
        one for one in kept if one.state == wanted
    ]  # fmt: skip
    if len(fitting) != 1:
        names = ", ".join(f"{one.model} ({one.state})" for one in kept) or "none"
        raise ConfigError(
            f"namespace {namespace!r} has {len(fitting)} embedding spaces that could be meant: "
            f"beside the active one it keeps {names}",
            hint=f"Name its model, or build one: ragpg reembed --embedder MODEL "
            f"{shell_argument(namespace)}",
        )
    [target] = fitting
    yield from fetch(
        SWITCH_SPACE,
        {"namespace": namespace, "space_id": target.space_id, "missing": missing},
        timeout=0,
    )
    return replace(target, state="active")


def drop_spaces(namespace: str, *, model: str | None = None) -> Flow[list[SpaceInfo]]:
    """Forget the spaces that a namespace keeps beside the active one, or the one of `model`; which
    they were."""
    known = yield from fetch(SPACES, {"namespace": namespace})
    gone = [one for one in known if one.state != "active" and model in (None, one.model)]
    for one in gone:
        yield from fetch(DROP_SPACE, {"namespace": namespace, "space_id": one.space_id}, timeout=0)
    return gone


def spaces_of(namespace: str) -> Flow[list[SpaceInfo]]:
    """The embedding spaces of a namespace and how far they are."""
    return (yield from fetch(SPACES, {"namespace": namespace}))


def _state(namespace: str, space: Space) -> Flow[SpaceInfo]:
    known = yield from fetch(SPACES, {"namespace": namespace})
    for one in known:
        if one.space_id == space.id:
            return one
    raise ConfigError(
        f"the embedding space of {space.model} was dropped from namespace {namespace!r} meanwhile"
    )


class _Filling:
    """Passes over the chunks that have no vector, page by page."""

    def __init__(
        self,
        namespace: str,
        space: Space,
        pace: Pace,
        on_step: Callable[[ReembedReport], object] | None,
    ) -> None:
        assert space.id is not None
        self.namespace, self.space, self.pace, self.on_step = namespace, space, pace, on_step
        self.began = time.perf_counter()
        self.waited = 0.0
        self.report = ReembedReport(namespace, space.id, space.model, space.dimensions)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        limit = self.pace.seconds
        return limit is not None and time.perf_counter() - self.began > limit

    def once(self) -> Flow[bool]:
        """One pass; whether it has stored anything, so that another one is due."""
        after = stored = 0
        while not self.is_late:
            page = yield from next_page(self.namespace, self.space, after, PAGE)
            if not page:
                break
            after = page[-1].chunk_id
            stored += yield from self._page(page)
            yield from self._throttle()
            if len(page) < PAGE:
                break
        return stored > 0 and not self.is_late

    def _page(self, page: list[Unembedded]) -> Flow[int]:
        keys, texts = yield from keys_of(page)
        while True:
            done = yield from embed_hashes(texts, self.space, self.pace.claim_ttl)
            stored = yield from store_page(self.namespace, self.space, page, keys, done.vectors)
            self._note(page, keys, stored, len(done.computed), done.refused)
            if self.space.down is None:
                return stored
            yield from self._wait(self.space.down)
            self.space.down = None

    def _note(
        self,
        page: list[Unembedded],
        keys: list[bytes],
        stored: int,
        computed: int,
        refused: Mapping[bytes, str],
    ) -> None:
        named = {
            one.chunk_id: refused[key]
            for one, key in zip(page, keys, strict=True)
            if key in refused
        }
        before = self.report
        self.report = replace(
            before,
            chunks=before.chunks + len(page),
            stored=before.stored + stored,
            computed=before.computed + computed,
            refused={**before.refused, **named},
            seconds=time.perf_counter() - self.began,
            usage=self.space.usage(self.pace.prices),
        )
        if self.on_step is not None:
            self.on_step(self.report)

    def _wait(self, error: ProviderError) -> Flow[None]:
        """Pause after a failure of the service, longer each time; raise when it is too much."""
        pause = FIRST_PAUSE if not self.waited else min(2 * self.waited, LONGEST_PAUSE)
        quota = isinstance(error, RateLimited) and "quota" in error.message
        if quota or self.waited + pause > self.pace.patience:
            raise error
        self.waited += pause
        yield Sleep(pause)

    def _throttle(self) -> Flow[None]:
        if self.pace.per_second is None:
            return
        ahead = self.report.chunks / self.pace.per_second - (time.perf_counter() - self.began)
        if ahead > 0:
            yield Sleep(ahead)
