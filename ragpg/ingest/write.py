"""What an ingest writes: groups of documents, large files, removals, and what is due at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragpg.errors import RagpgError
from ragpg.ingest.large import plan_large, store_large
from ragpg.ingest.missing_vectors import has_lost, restore_beside, restore_vectors
from ragpg.ingest.order import size_of
from ragpg.ingest.prepare import displaced
from ragpg.ingest.reports import report_of
from ragpg.ingest.run import is_systemic
from ragpg.ingest.store import store
from ragpg.ingest.tidy import tidy
from ragpg.observe.stage import stage
from ragpg.queries_store import DELETE
from ragpg.steps import Flow, call, fetch
from ragpg.types import FileReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.ingest.embedding import Embedded
    from ragpg.ingest.prepare import Prepared, Raw
    from ragpg.ingest.run import Run
    from ragpg.queries_store import Written

#: Bytes of a chunk of a file that is read in parts, for a forecast.
CHUNK_BYTES = 800


def write_group(run: Run, group: Embedded) -> Flow[None]:
    """Write a group; where it fails, one by one, so that only the bad document fails."""
    for source, reason in group.failed.items():
        yield from run.fail(source, reason)
    ready = [one for one in group.documents if one.item.source not in group.failed]
    if run.order.dry_run:
        for one in ready:
            status = "stored" if one.texts else "empty"
            report = report_of(one.item, status, chunks=len(one.texts), document=one)
            run.report(replace(report, reason=run.changes.reasons.get(one.item.source)))
        return
    if not ready:
        return
    if run.indexing is not None:
        new = sum(len(one.texts) for one in ready)
        yield from run.indexing.before(new, run.forecast.rest())
    yield from run.fold()
    try:
        yield from _write(run, group, ready)
    except (RagpgError, ValueError, TypeError, OverflowError) as error:
        if is_systemic(error):
            raise
        if len(ready) == 1:
            yield from _refuse(run, ready[0], error)
            return
        for one in ready:
            try:
                yield from _write(run, group, [one])
            except (RagpgError, ValueError, TypeError, OverflowError) as single:
                if is_systemic(single):
                    raise
                yield from _refuse(run, one, single)


def write_large(run: Run, raw: Raw, mark: bytes) -> Flow[None]:
    """Write a file that is read in parts."""
    if run.order.dry_run or run.namespace is None:
        report = yield from plan_large(raw, run.chunker)
    else:
        ttl = run.settings.claim_ttl
        space = run.space if run.space is not None and run.space.id is not None else None
        if run.indexing is not None:
            yield from run.indexing.before(size_of(raw.item) // CHUNK_BYTES, 0)
        yield from run.fold()
        report = yield from stage(
            "store",
            store_large(
                run.order.namespace,
                run.namespace.id,
                raw,
                mark,
                run.chunker,
                space,
                ttl,
                run.kept,
            ),
        )
    if report.status == "failed":
        yield from run.fail(report.source, report.reason or "it cannot be read")
        return
    run.has_written = True
    run.written += report.new_chunks
    run.report(replace(report, reason=run.changes.reasons.get(report.source)))


def _refuse(run: Run, one: Prepared, error: Exception) -> Flow[None]:
    reason = error.message if isinstance(error, RagpgError) else f"{error}"
    yield from run.fail(one.item.source, f"it cannot be stored: {reason}")


def _write(run: Run, group: Embedded, ready: Sequence[Prepared]) -> Flow[None]:
    assert run.namespace is not None
    documents = [one.staged for one in ready if one.staged is not None]
    rows: list[Written] = yield from stage(
        "store", store(run.namespace.id, documents), facts={"documents": len(documents)}
    )
    run.has_written = True
    run.written += sum(row.new_chunks for row in rows)
    written = {row.source: row for row in rows}
    if run.space is not None and any(
        has_lost(written[one.document.source], one.hashes, group.vectors) for one in documents
    ):
        yield from restore_vectors(run.order.namespace, run.space, run.settings.claim_ttl)
    texts = {
        key: text
        for one in ready
        if one.staged is not None and written[one.item.source].outcome == "stored"
        for key, text in zip(one.staged.hashes, one.texts, strict=True)
    }
    for space in run.kept:
        if space.down is None:
            had = group.beside.get(space.id or 0, set())
            had_texts = {key: text for key, text in texts.items() if key in had}
            yield from restore_beside(run.order.namespace, space, had_texts, run.settings.claim_ttl)
    for one in ready:
        row = written[one.item.source]
        stored = run.known.get(one.item.source)
        note = yield from call(displaced, one.item, stored.path if stored else None)
        report = report_of(
            one.item,
            row.outcome,
            chunks=row.chunks,
            new_chunks=row.new_chunks,
            document=one,
            group=group,
        )
        report = replace(report, reason=run.changes.reasons.get(one.item.source))
        run.report(replace(report, notes=(*report.notes, note)) if note else report)


def remove_gone(run: Run) -> Flow[None]:
    """Delete documents whose files are gone; those that moved and could not be stored stay."""
    failed = {report.source for report in run.reports if report.status == "failed"}
    gone = run.changes.removals(failed)
    if gone and not run.order.dry_run:
        yield from fetch(DELETE, {"namespace": run.order.namespace, "sources": list(gone)})
        run.has_written = True
    for source, reason in gone.items():
        run.report(FileReport(source, "removed", reason=reason))


def finish(run: Run) -> Flow[None]:
    """Leave the namespace as searches want it."""
    if run.order.dry_run or run.namespace is None:
        return
    run.notes += yield from tidy(run.order, run.space, run.indexing, has_written=run.has_written)
