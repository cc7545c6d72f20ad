"""What a worker puts between a flow and the world: it notices, counts, and can stop."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ragpg.embedders import Embedders
from ragpg.jobs.queries import HOLD
from ragpg.queries_store import CLAIM
from ragpg.steps import Call, Fetch, Step, Transact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.perform import Performer
    from ragpg.protocols import Embedder


class GivenUp(Exception):
    """Leaves a flow whose jobs are to be given back, or are lost."""


class EmbedderWatch:
    """How many texts were embedded for a batch, by whichever embedder, and the last error."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.embedded = 0
        self.error: Exception | None = None

    def over(self, embedder: Any) -> Any:
        """The embedder, watched; of several, each of them."""
        if isinstance(embedder, Embedders):
            return embedder.mapped(self.over)
        return None if embedder is None else WatchedEmbedder(embedder, self)


class WatchedEmbedder:
    """An embedder that tells its watch what it does."""

    def __init__(self, embedder: Embedder, watch: EmbedderWatch) -> None:
        self._embedder = embedder
        self._watch = watch

    @property
    def model(self) -> str:
        """That of the embedder."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Those of the embedder."""
        return self._embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """What the embedder says."""
        try:
            vectors = self._embedder.embed_documents(texts)
        except Exception as error:
            self._watch.error = error
            raise
        with self._watch.lock:
            self._watch.embedded += len(texts)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """What the embedder says."""
        return self._embedder.embed_query(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


class Fenced:
    """Does the steps of a flow for a worker that may lose its jobs.

    Every transaction begins with a look whether the jobs are still the worker's, and keeps them so
    until it ends: of two workers with one job, one writes. `stopping` is asked between two batches
    of embeddings and between two documents; a GivenUp that it leads to is raised once.
    """

    def __init__(
        self, performer: Performer, worker: str, ids: Sequence[int], stopping: Callable[[], bool]
    ) -> None:
        self.performer = performer
        self.holding = {"worker": worker, "ids": list(ids)}
        self.stopping = stopping
        self._told = threading.Lock()

    def __call__(self, step: Step) -> Any:
        # Steps that give back what is held must pass, and an embedder's errors are its own.
        leaves = isinstance(step, Call) or (isinstance(step, Fetch) and step.query is CLAIM)
        if leaves and self.stopping() and self._told.acquire(blocking=False):
            raise GivenUp
        if isinstance(step, Transact):
            step = Transact((Fetch(HOLD, self.holding), *step.operations))
        return self.performer(step)

    def interrupt(self) -> None:
        """End the statements that are running now."""
        self.performer.interrupt()
