"""The next documents of an ingest: read, compared with what is stored, cut and embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragpg.ingest.embedding import Embedded, embed_group
from ragpg.ingest.order import size_of
from ragpg.ingest.prepare import fingerprint, prepare, read, real_path
from ragpg.ingest.reports import report_of
from ragpg.observe.stage import stage
from ragpg.queries_store import MOVE
from ragpg.steps import Flow, call, fetch

if TYPE_CHECKING:
    from ragpg.ingest.prepare import Prepared, Raw
    from ragpg.ingest.run import Run

#: A transaction takes so many chunks (or one larger document) and documents.
GROUP_CHUNKS = 512
GROUP_DOCUMENTS = 64
#: Files are read together up to so many bytes.
GROUP_BYTES = 32_000_000


def next_group(run: Run) -> Flow[Embedded | None]:
    """Read, compare, cut and embed until a group is full; None when nothing is left."""
    group: list[Prepared] = []
    size = 0
    while len(group) < GROUP_DOCUMENTS and size < GROUP_CHUNKS:
        if not run.changed:
            if not run.waiting:
                break
            yield from stage("read", _compare(run))
            continue
        raw, mark = run.changed.popleft()
        prepared: Prepared = yield from call(prepare, raw, mark, run.chunker)
        run.forecast.seen += size_of(raw.item)
        run.forecast.chunks += len(prepared.texts)
        if prepared.error is not None or prepared.staged is None:
            yield from run.leave(prepared)
            continue
        group.append(prepared)
        size += len(prepared.texts)
    if not group:
        return None
    if run.order.dry_run:
        return Embedded(group)
    ttl = run.settings.claim_ttl
    embedded: Embedded = yield from stage(
        "embed",
        embed_group(group, run.space, ttl),
        facts={"documents": len(group), "chunks": size},
        read=lambda done: {"computed": len(done.owner), "cached": len(done.vectors)},
    )
    for space in run.kept:
        if space.down is None and space.id is not None:
            # What fails here is completed by the change of the model.
            beside: Embedded = yield from embed_group(group, space, ttl)
            embedded.beside[space.id] = beside.vectors
    return embedded


def _compare(run: Run) -> Flow[None]:
    """Read the next items; those that differ from what is stored go on."""
    items = [run.waiting.popleft()]
    size = size_of(items[0])
    while run.waiting and len(items) < GROUP_DOCUMENTS:
        size += size_of(run.waiting[0])
        if size > GROUP_BYTES:
            break
        items.append(run.waiting.popleft())
    raws: list[Raw] = yield from call(read, items, run.settings.max_file_size)
    known = yield from run.stored_of([item.source for item in items])
    run.known.update(known)
    # Without an embedder, documents that have vectors are as good as those without.
    spaces: list[object] = [None]
    if run.space is not None:
        spaces = [[run.space.model, run.space.dimensions]]
    elif run.namespace is not None and run.namespace.space_id is not None:
        spaces.append([run.namespace.model, run.namespace.dimensions])
    # A change of the model gave these documents their vectors.
    spaces += [[model, dimensions] for model, dimensions in run.former]
    moved: dict[str, str] = {}
    for raw in raws:
        source = raw.item.source
        if raw.error is not None:
            run.forecast.seen += size_of(raw.item)
            yield from run.fail(source, raw.error)
            continue
        marks = [fingerprint(raw, run.chunker, space) for space in spaces]
        stored = known.get(source)
        if stored is not None and stored.error is None and stored.fingerprint in marks:
            run.forecast.seen += size_of(raw.item)
            run.report(report_of(raw.item, "unchanged", chunks=stored.chunks))
            path = yield from call(real_path, raw.item)
            if path is not None and path != stored.path:
                moved[source] = path
        else:
            waiting = run.changed if raw.windows is None else run.large
            waiting.append((raw, marks[0]))
            run.changes.note(raw, stored)
    if moved and run.namespace is not None and not run.order.dry_run:
        # Pruning looks below the folder that documents were last read from.
        places = {"sources": list(moved), "paths": list(moved.values())}
        yield from fetch(MOVE, {"namespace_id": run.namespace.id, **places})
    run.announce()
