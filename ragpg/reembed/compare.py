"""Two embedding spaces of one namespace on the bench, before anybody searches the new one.

The new space is searched inside of a transaction that switches to it and is rolled back, so what is
measured is the very search that the switch would bring, and nobody else sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import psycopg

import ragpg
from ragpg.connection import address_of
from ragpg.errors import ConfigError
from ragpg.evaluate import synthesis
from ragpg.evaluate.climb import Climb
from ragpg.evaluate.ladder import ladder
from ragpg.evaluate.query_vectors import RememberingEmbedder
from ragpg.evaluate.report import Report
from ragpg.queries_spaces import SpaceInfo
from ragpg.reembed.filling import spaces_of
from ragpg.sqlfiles import render
from ragpg.terminal import shell_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragpg.client import Client
    from ragpg.evaluate.bootstrap import Difference
    from ragpg.protocols import Embedder

#: What is compared: the vectors alone, the fused arms, and the search as it is by default.
RUNGS = ("vector", "fused", "default")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A report whose rungs are `RUNGS` in the old and in the new space; `pairs` are their names."""

    report: Report
    old: SpaceInfo
    new: SpaceInfo
    pairs: Sequence[tuple[str, str, str]]

    def rows(self) -> list[tuple[str, str, float | None, float | None, Difference | None]]:
        """Rung, metric, its mean in the old and in the new space, and the paired difference."""
        metrics = [name for name in self.report.metrics if name != "context"]
        return [
            (rung, metric, self.report.mean(old, metric), self.report.mean(new, metric),
             self.report.compare(new, old, metric))
            for rung, old, new in self.pairs
            for metric in metrics
        ]  # fmt: skip


def compare(
    rag: Client,
    namespace: str,
    old: Embedder,
    new: Embedder,
    *,
    items: int = 50,
    seed: int = 1,
    k: int = 10,
    rungs: Sequence[str] = RUNGS,
    on_question: Callable[[], object] | None = None,
) -> Comparison:
    """Ask questions made from the namespace's own chunks in the space that is searched, with `old`,
    and in the one of `new`. Nothing is changed.

    Raises ConfigError where the client joins a caller's transaction, or where the namespace has no
    space of one of the two.
    """
    source = rag._database.source
    if source.joins:
        raise ConfigError("spaces cannot be compared inside of a transaction of the caller's")
    known = rag.run(spaces_of(namespace))
    before, after = (_space(known, namespace, one) for one in (old, new))
    with source.borrow() as connection:
        address = address_of(connection)
    questions = synthesis.questions_from(rag, [namespace], items=items, seed=seed)
    runs, steps, pairs = {}, [], []
    remembering = RememberingEmbedder(old), RememberingEmbedder(new)
    for step in ladder(list(rungs)):
        names = [f"{step.name}, {one.model} ({one.dimensions})" for one in (before, after)]
        pairs.append((step.name, names[0], names[1]))
        for space, embedder, name in zip((before, after), remembering, names, strict=True):
            with _shadow(address, rag.schema, namespace, space, embedder) as shadow:
                rung = replace(step, name=name, against=None)
                climb = Climb(shadow, [namespace], questions, k=k, depth=k, on_question=on_question)
                runs[name] = climb.run(rung)
                steps.append(rung)
    documents = sum(one.documents for one in rag.namespaces() if one.name == namespace)
    report = Report(namespace, documents, questions, steps, runs, k, k)
    return Comparison(report, before, after, pairs)


@contextmanager
def _shadow(
    address: str, schema: str, namespace: str, space: SpaceInfo, embedder: Embedder
) -> Iterator[Client]:
    """A client for which alone the namespace is searched in a space."""
    with psycopg.connect(address) as connection:
        switch = render("select ragpg.set_embedding_space(%s, %s)", schema)
        connection.execute(switch, [namespace, space.space_id])
        try:
            yield ragpg.connect(connection, embedder=embedder, schema=schema)
        finally:
            connection.rollback()


def _space(known: Sequence[SpaceInfo], namespace: str, embedder: Embedder) -> SpaceInfo:
    for one in known:
        if (one.model, one.dimensions) == (embedder.model, embedder.dimensions):
            return one
    raise ConfigError(
        f"namespace {namespace!r} has no embedding space of {embedder.model} "
        f"({embedder.dimensions} dimensions)",
        hint=f"Build it first: ragpg reembed --embedder MODEL {shell_argument(namespace)}",
    )
