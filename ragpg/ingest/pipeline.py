"""ingest: discover -> read -> compare -> load -> chunk -> embed -> store -> prune -> tidy.

Documents go in groups: while one group is written, the next is read and embedded. A group is one
transaction; a document is wholly inside of it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragpg.errors import (
    DatabaseError,
    NamespaceNotFound,
    RagpgError,
)
from ragpg.ingest.changes import Changes
from ragpg.ingest.chunkers import AutoChunker
from ragpg.ingest.discover import Discovery
from ragpg.ingest.embedding import Embedded, Space, embed_group
from ragpg.ingest.indexing import Forecast, Indexing, policy_named
from ragpg.ingest.large import plan_large, store_large
from ragpg.ingest.namespace import kept_spaces, open_namespace
from ragpg.ingest.order import Order, size_of
from ragpg.ingest.prepare import (
    Item,
    Prepared,
    Raw,
    displaced,
    find_files,
    fingerprint,
    items_of,
    prepare,
    read,
    real_path,
)
from ragpg.ingest.prune import left_behind, vanished
from ragpg.ingest.reports import report_of
from ragpg.ingest.store import store
from ragpg.ingest.tidy import tidy
from ragpg.observe.stage import operation, stage
from ragpg.queries import (
    DELETE,
    FINGERPRINTS,
    MARK_FAILED,
    MOVE,
    NamespaceRow,
    Stored,
    Written,
)
from ragpg.queries_spaces import FORMER_MODELS
from ragpg.steps import Flow, call, fetch, together
from ragpg.types import FileReport, IngestReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.protocols import AsyncEmbedder, Chunker, Embedder
    from ragpg.settings import Settings

#: A transaction takes so many chunks (or one larger document) and documents.
GROUP_CHUNKS = 512
GROUP_DOCUMENTS = 64
#: Files are read together up to so many bytes.
GROUP_BYTES = 32_000_000
#: Bytes of a chunk of a file that is read in parts, for a forecast.
CHUNK_BYTES = 800


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
    run = _Run(order, embedder, settings)
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

    group = yield from run.next_group()
    while group is not None:
        run.announce()
        # The next group is embedded while this one is stored.
        following, stored = yield from together(run.next_group(), run.store(group))
        stored.take()
        group = following.take()
    while run.large:
        yield from run.store_large(*run.large.popleft())
        run.announce()
    if run.changes.gone:
        yield from run.remove()
    run.announce()
    yield from stage("tidy", run.tidy())
    return IngestReport(
        namespace=order.namespace,
        files=sorted(run.reports, key=lambda report: report.source),
        seconds=time.perf_counter() - began,
        notes=run.notes,
    )


class _Run:
    """One ingest: what is waiting, what is reported, where it goes."""

    def __init__(
        self, order: Order, embedder: Embedder | AsyncEmbedder | None, settings: Settings
    ) -> None:
        self.order = order
        self.embedder = embedder
        self.settings = settings
        self.chunker: Chunker = order.chunker or AutoChunker()
        self.namespace: NamespaceRow | None = None
        self.space: Space | None = None
        #: Spaces that are filled beside it, and models of before (each with its dimensions).
        self.kept: list[Space] = []
        self.former: list[tuple[str, int]] = []
        self.waiting: deque[Item] = deque()
        self.changed: deque[tuple[Raw, bytes]] = deque()
        self.large: deque[tuple[Raw, bytes]] = deque()
        self.known: dict[str, Stored] = {}
        self.reports: list[FileReport] = []
        self.announced = 0
        self.notes: list[str] = []
        self.has_written = False
        self.changes = Changes(planning=order.dry_run)
        self.policy = policy_named(order.index or settings.index)
        self.indexing: Indexing | None = None
        self.forecast = Forecast()

    def report(self, report: FileReport) -> None:
        self.reports.append(report)

    def announce(self) -> None:
        """Tell the caller of new reports, here and never in another thread."""
        while self.announced < len(self.reports):
            report = self.reports[self.announced]
            self.announced += 1
            if self.order.on_file is not None:
                self.order.on_file(report)

    def open(self) -> Flow[None]:
        """Find or create the namespace and the space of its vectors."""
        order = self.order
        opened = yield from open_namespace(
            order.namespace,
            order.language,
            self.embedder,
            create=not order.dry_run,
            kind=order.kind,
        )
        self.namespace, self.space = opened
        if self.namespace is not None and not _is_language(order.language, self.namespace.language):
            self.notes.append(
                f"namespace {order.namespace} is {self.namespace.language} already: "
                f"the language {order.language} was not used"
            )
        has_vectors = self.namespace is not None and self.namespace.space_id is not None
        if self.embedder is None and has_vectors:
            self.notes.append("no embedder: new and changed documents are stored without vectors")
        if self.namespace is not None and self.space is not None and not order.dry_run:
            self.kept, notes = yield from kept_spaces(self.namespace, self.embedder)
            self.notes += notes
            if self.space.id is not None:
                self.indexing = Indexing(
                    order.namespace, self.space.id, self.policy, order.on_index,
                    deferred=order.on_index_due is not None,
                )  # fmt: skip
        if self.namespace is not None:
            self.former = yield from fetch(FORMER_MODELS, {"namespace_id": self.namespace.id})

    def wait_for(self, items: Sequence[Item]) -> None:
        """Put items into the queue of this run."""
        self.waiting.extend(items)
        self.forecast.total += sum(map(size_of, items))

    def reject(self, report: FileReport) -> Flow[None]:
        """A file that was found and is not read; what is stored of it stays."""
        if report.status == "failed" and not report.source.endswith("/"):
            yield from self.fail(report.source, report.reason or "it cannot be read")
        else:
            self.report(report)

    def fail(self, source: str, reason: str, *, notes: Sequence[str] = ()) -> Flow[None]:
        """Report a source as failed, and note it in the database so that it is tried again."""
        stored = self.known.get(source)
        if self.namespace is not None and not self.order.dry_run:
            if stored is None:
                rows = yield from self.stored_of([source])
                stored = rows.get(source)
            if stored is None or stored.error != reason[:2000]:
                try:
                    yield from fetch(
                        MARK_FAILED,
                        {"namespace": self.order.namespace, "source": source, "reason": reason},
                    )
                except DatabaseError as error:
                    if is_systemic(error):
                        raise
        chunks = stored.chunks if stored else 0
        self.report(FileReport(source, "failed", chunks=chunks, reason=reason, notes=tuple(notes)))

    def leave(self, prepared: Prepared) -> Flow[None]:
        """A file that cannot be read is a failure, unless there was never any text in it."""
        source, reason = prepared.item.source, prepared.error or "it cannot be read"
        stored = self.known.get(source)
        if prepared.fault or (stored is not None and stored.chunks):
            yield from self.fail(source, reason)
        else:
            self.report(FileReport(source, "skipped", reason=reason))

    def stored_of(self, sources: Sequence[str]) -> Flow[dict[str, Stored]]:
        """What the namespace holds of sources."""
        if self.namespace is None:
            return {}
        try:
            rows = yield from fetch(
                FINGERPRINTS, {"namespace": self.order.namespace, "sources": list(sources)}
            )
        except NamespaceNotFound:
            # Dropped by somebody meanwhile.
            return {}
        return {row.source: row for row in rows}

    def next_group(self) -> Flow[Embedded | None]:
        """Read, compare, cut and embed until a group is full; None when nothing is left."""
        group: list[Prepared] = []
        size = 0
        while len(group) < GROUP_DOCUMENTS and size < GROUP_CHUNKS:
            if not self.changed:
                if not self.waiting:
                    break
                yield from stage("read", self._compare())
                continue
            raw, mark = self.changed.popleft()
            prepared: Prepared = yield from call(prepare, raw, mark, self.chunker)
            self.forecast.seen += size_of(raw.item)
            self.forecast.chunks += len(prepared.texts)
            if prepared.error is not None or prepared.staged is None:
                yield from self.leave(prepared)
                continue
            group.append(prepared)
            size += len(prepared.texts)
        if not group:
            return None
        if self.order.dry_run:
            return Embedded(group)
        ttl = self.settings.claim_ttl
        embedded: Embedded = yield from stage(
            "embed",
            embed_group(group, self.space, ttl),
            facts={"documents": len(group), "chunks": size},
            read=lambda done: {"computed": len(done.owner), "cached": len(done.vectors)},
        )
        for space in self.kept:
            if space.down is None:
                # What fails here is completed by the change of the model.
                yield from embed_group(group, space, ttl)
        return embedded

    def _compare(self) -> Flow[None]:
        """Read the next items; those that differ from what is stored go on."""
        items = [self.waiting.popleft()]
        size = size_of(items[0])
        while self.waiting and len(items) < GROUP_DOCUMENTS:
            size += size_of(self.waiting[0])
            if size > GROUP_BYTES:
                break
            items.append(self.waiting.popleft())
        raws: list[Raw] = yield from call(read, items, self.settings.max_file_size)
        known = yield from self.stored_of([item.source for item in items])
        self.known.update(known)
        # Without an embedder, documents that have vectors are as good as those without.
        spaces: list[object] = [None]
        if self.space is not None:
            spaces = [[self.space.model, self.space.dimensions]]
        elif self.namespace is not None and self.namespace.space_id is not None:
            spaces.append([self.namespace.model, self.namespace.dimensions])
        # A change of the model gave these documents their vectors.
        spaces += [[model, dimensions] for model, dimensions in self.former]
        moved: dict[str, str] = {}
        for raw in raws:
            source = raw.item.source
            if raw.error is not None:
                self.forecast.seen += size_of(raw.item)
                yield from self.fail(source, raw.error)
                continue
            marks = [fingerprint(raw, self.chunker, space) for space in spaces]
            stored = known.get(source)
            if stored is not None and stored.error is None and stored.fingerprint in marks:
                self.forecast.seen += size_of(raw.item)
                self.report(report_of(raw.item, "unchanged", chunks=stored.chunks))
                path = yield from call(real_path, raw.item)
                if path is not None and path != stored.path:
                    moved[source] = path
            else:
                waiting = self.changed if raw.windows is None else self.large
                waiting.append((raw, marks[0]))
                self.changes.note(raw, stored)
        if moved and self.namespace is not None and not self.order.dry_run:
            # Pruning looks below the folder that documents were last read from.
            places = {"sources": list(moved), "paths": list(moved.values())}
            yield from fetch(MOVE, {"namespace_id": self.namespace.id, **places})
        self.announce()

    def store(self, group: Embedded) -> Flow[None]:
        """Write a group; where it fails, one by one, so that only the bad document fails."""
        for source, reason in group.failed.items():
            yield from self.fail(source, reason)
        ready = [one for one in group.documents if one.item.source not in group.failed]
        if self.order.dry_run:
            for one in ready:
                status = "stored" if one.texts else "empty"
                report = report_of(one.item, status, chunks=len(one.texts), document=one)
                self.report(replace(report, reason=self.changes.reasons.get(one.item.source)))
            return
        if not ready:
            return
        if self.indexing is not None:
            new = sum(len(one.texts) for one in ready)
            yield from self.indexing.before(new, self.forecast.rest())
        try:
            yield from self._write(group, ready)
        except (RagpgError, ValueError, TypeError, OverflowError) as error:
            if is_systemic(error):
                raise
            if len(ready) == 1:
                yield from self._refuse(ready[0], error)
                return
            for one in ready:
                try:
                    yield from self._write(group, [one])
                except (RagpgError, ValueError, TypeError, OverflowError) as single:
                    if is_systemic(single):
                        raise
                    yield from self._refuse(one, single)

    def store_large(self, raw: Raw, mark: bytes) -> Flow[None]:
        """Write a file that is read in parts."""
        if self.order.dry_run or self.namespace is None:
            report = yield from plan_large(raw, self.chunker)
        else:
            ttl = self.settings.claim_ttl
            space = self.space if self.space is not None and self.space.id is not None else None
            if self.indexing is not None:
                yield from self.indexing.before(size_of(raw.item) // CHUNK_BYTES, 0)
            report = yield from stage(
                "store",
                store_large(self.namespace.id, raw, mark, self.chunker, space, ttl, self.kept),
            )
        if report.status == "failed":
            yield from self.fail(report.source, report.reason or "it cannot be read")
            return
        self.has_written = True
        self.report(replace(report, reason=self.changes.reasons.get(report.source)))

    def _refuse(self, one: Prepared, error: Exception) -> Flow[None]:
        reason = error.message if isinstance(error, RagpgError) else f"{error}"
        yield from self.fail(one.item.source, f"it cannot be stored: {reason}")

    def _write(self, group: Embedded, ready: Sequence[Prepared]) -> Flow[None]:
        assert self.namespace is not None
        documents = [one.staged for one in ready if one.staged is not None]
        rows: list[Written] = yield from stage(
            "store", store(self.namespace.id, documents), facts={"documents": len(documents)}
        )
        self.has_written = True
        written = {row.source: row for row in rows}
        for one in ready:
            row = written[one.item.source]
            stored = self.known.get(one.item.source)
            note = yield from call(displaced, one.item, stored.path if stored else None)
            report = report_of(
                one.item,
                row.outcome,
                chunks=row.chunks,
                new_chunks=row.new_chunks,
                document=one,
                group=group,
            )
            report = replace(report, reason=self.changes.reasons.get(one.item.source))
            self.report(replace(report, notes=(*report.notes, note)) if note else report)

    def remove(self) -> Flow[None]:
        """Delete documents whose files are gone; those that moved and could not be stored stay."""
        failed = {report.source for report in self.reports if report.status == "failed"}
        gone = self.changes.removals(failed)
        if gone and not self.order.dry_run:
            yield from fetch(DELETE, {"namespace": self.order.namespace, "sources": list(gone)})
            self.has_written = True
        for source, reason in gone.items():
            self.report(FileReport(source, "removed", reason=reason))

    def tidy(self) -> Flow[None]:
        """Leave the namespace as searches want it."""
        if self.order.dry_run or self.namespace is None:
            return
        self.notes += yield from tidy(
            self.order, self.space, self.indexing, has_written=self.has_written
        )


def _is_language(wanted: str, found: str) -> bool:
    """Whether a namespace has the language asked for; english is what nobody asked for."""
    wanted, found = (name.removeprefix("pg_catalog.") for name in (wanted, found))
    return wanted in (found, "english")


def is_systemic(error: Exception) -> bool:
    """Whether the error would meet every document alike, so that going on is pointless."""
    if not isinstance(error, DatabaseError):
        return isinstance(error, RagpgError)
    # Data exceptions, broken constraints and exceeded limits are about the document.
    return (error.sqlstate or "")[:2] not in ("22", "23", "54")
