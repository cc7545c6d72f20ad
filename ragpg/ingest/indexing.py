"""The vector index throughout one ingest: kept up row by row, or built when the rows are in.

A row costs several times as much in a live index as in one that is built of all rows, and nothing
but time is lost without one: a search then compares every vector. See docs/decisions/store.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from ragpg.errors import ConfigError, DatabaseError
from ragpg.queries_spaces import INDEX_SPACE, INDEX_STATE, IndexState
from ragpg.steps import Flow, apart, fetch
from ragpg.vectors import INDEX_FROM

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg.vector_index import IndexProgress

#: auto decides by what is there and what comes, live keeps the index up with every row, after
#: builds it at the end of the ingest.
IndexPolicy = Literal["auto", "live", "after"]
POLICIES: tuple[IndexPolicy, ...] = ("auto", "live", "after")

#: A larger space keeps its index, because searching it without takes too long.
MOST_DROPPED = 20_000
#: An index is dropped for so many times its vectors, so that building it anew is worth it; a
#: folder that is merely read again never brings as many.
LEAST_GROWTH = 2


@dataclass(slots=True)
class Forecast:
    """How many chunks are still to come, judging by the bytes and the new chunks so far."""

    total: int = 0
    seen: int = 0
    chunks: int = 0

    def rest(self) -> float:
        """New chunks that the bytes not yet seen will make."""
        return max(self.total - self.seen, 0) * self.chunks / self.seen if self.seen else 0.0


@dataclass(slots=True)
class Indexing:
    """What an ingest does about the index of the space that it writes to."""

    namespace: str
    space_id: int
    policy: IndexPolicy
    on_index: Callable[[IndexProgress], object] | None = None
    #: Workers leave the building to the end of the queue.
    deferred: bool = False
    wanted: bool = False
    decided: bool = False
    dropped: bool = False
    notes: list[str] = field(default_factory=list)

    def before(self, new: int, rest: float) -> Flow[None]:
        """Decide, before `new` chunks are written with about `rest` further ones to come."""
        if self.decided or (self.policy == "auto" and new + rest <= INDEX_FROM):
            return
        self.decided = True
        state = yield from self._state()
        if state is None:
            return
        if self.policy == "live" and state.state == "none":
            yield from build(self.space_id)
        elif state.state == "valid" and self._drops(state, new + rest):
            yield from self._drop()

    def after(self) -> Flow[None]:
        """Build the index where one is due. That it cannot be built fails nothing: searches compare
        every vector then, and the next ingest or `ragpg doctor --fix` builds it."""
        state = yield from self._state()
        if state is None or state.state in ("valid", "impossible"):
            return
        self.wanted = self.dropped or state.vectors > INDEX_FROM
        if not self.wanted or self.deferred:
            return
        began = time.perf_counter()
        try:
            built = yield from build(self.space_id, on_progress=self.on_index)
        except DatabaseError as error:
            self.notes.append(
                f"the vector index could not be built: {error.message}; searches compare every "
                "vector until the next ingest or ragpg doctor --fix has built it"
            )
            return
        if built:
            self.notes.append(f"built the vector index in {time.perf_counter() - began:.1f} s")

    def _state(self) -> Flow[IndexState | None]:
        rows = yield from fetch(
            INDEX_STATE, {"space_id": self.space_id, "namespace": self.namespace}, timeout=0
        )
        return rows[0] if rows else None

    def _drops(self, state: IndexState, coming: float) -> bool:
        if self.policy == "after":
            return True
        return (
            self.policy == "auto"
            and state.vectors <= MOST_DROPPED
            # Others are not to search without it for our sake.
            and state.others <= INDEX_FROM
            and coming >= LEAST_GROWTH * max(state.vectors, INDEX_FROM)
        )

    def _drop(self) -> Flow[None]:
        from ragpg.vector_index import drop_index

        try:
            gone = yield from apart(lambda place, schema: drop_index(
                place, self.space_id, schema=schema))  # fmt: skip
        except DatabaseError as error:
            self.notes.append(f"the vector index was not dropped for the load: {error.message}")
            return
        self.dropped = bool(gone)
        if not self.dropped and self.policy == "after":
            self.notes.append(
                "the vector index stays: only the owner of the tables may drop it, on a connection "
                "that neither a caller's transaction nor a pooler holds"
            )


def build(
    space_id: int | None,
    *,
    wait: bool = True,
    on_progress: Callable[[IndexProgress], object] | None = None,
) -> Flow[bool]:
    """Build the index of a space, on a connection of its own while others write, or on the one of a
    caller. False if it is there already or cannot be."""
    from ragpg.vector_index import build_index

    if space_id is None:
        return False
    work = partial(build_index, space_id=space_id, wait=wait, on_progress=on_progress)
    built = yield from apart(lambda address, schema: work(address, schema=schema))
    if built is None:
        [built] = yield from fetch(INDEX_SPACE, {"space_id": space_id}, timeout=0)
    return bool(built)


def policy_named(name: str) -> IndexPolicy:
    """The policy of that name. Raises ConfigError where there is none."""
    for one in POLICIES:
        if one == name:
            return one
    raise ConfigError(f"index must be one of {', '.join(POLICIES)}, not {name!r}")
