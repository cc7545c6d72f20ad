"""ingest: discover -> read -> compare -> load -> chunk -> embed -> store -> prune -> tidy.

Documents go in groups: while one group is written, the next is read and embedded. A group is one
transaction; a document is wholly inside of it.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragpg.ingest.discover import Discovery
from ragpg.ingest.gather import next_group
from ragpg.ingest.prepare import find_files, items_of
from ragpg.ingest.prune import left_behind, vanished
from ragpg.ingest.run import Run
from ragpg.ingest.write import finish, remove_gone, write_group, write_large
from ragpg.observe.stage import operation, stage
from ragpg.steps import Flow, call, together
from ragpg.types import IngestReport

if TYPE_CHECKING:
    from ragpg.ingest.order import Order
    from ragpg.protocols import AsyncEmbedder, Embedder
    from ragpg.settings import Settings


def ingest(
    order: Order, embedder: Embedder | AsyncEmbedder | None, settings: Settings
) -> Flow[IngestReport]:
    """Bring a namespace to what files and texts are now, and say what became of each."""
    return operation(
        "ingest",
        _ingest(order, embedder, settings),
        namespaces=[order.namespace],
        category="ingest",
        read=_facts,
        charged=lambda report, usage: replace(report, usage=usage),
    )


def _facts(report: IngestReport) -> dict[str, int]:
    counts: Counter[str] = Counter(file.status for file in report.files)
    return {"chunks": report.chunks, **counts}


def _ingest(
    order: Order, embedder: Embedder | AsyncEmbedder | None, settings: Settings
) -> Flow[IngestReport]:
    began = time.perf_counter()
    run = Run(order, embedder, settings)
    yield from run.open()
    found = Discovery((), ())
    if order.paths:
        find = partial(
            find_files, root=order.root, follow_links=order.follow_links, include=order.include,
            exclude=order.exclude, trusted=order.trusted, max_bytes=settings.max_file_size,
        )  # fmt: skip
        found = yield from call(find, order.paths)
    if order.prune and run.namespace is not None:
        run.changes.gone = yield from vanished(
            run.namespace.id, order.paths, found, trusted=order.trusted
        )
        if not order.trusted:
            run.notes += yield from left_behind(run.namespace.id, order.paths, found)
    for rejected in found.rejected:
        yield from run.reject(rejected)
    items = yield from call(items_of, found.files, order.texts, order.metadata)
    run.wait_for([*items, *order.items])

    group = yield from next_group(run)
    while group is not None:
        run.announce()
        # The next group is embedded while this one is stored.
        following, stored = yield from together(next_group(run), write_group(run, group))
        stored.take()
        group = following.take()
    while run.large:
        yield from write_large(run, *run.large.popleft())
        run.announce()
    if run.changes.gone:
        yield from remove_gone(run)
    run.announce()
    yield from stage("tidy", finish(run))
    return IngestReport(
        namespace=order.namespace,
        files=sorted(run.reports, key=lambda report: report.source),
        seconds=time.perf_counter() - began,
        notes=run.notes,
    )
