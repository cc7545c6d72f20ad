"""One ingest under way: what is waiting, what is reported, where it goes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ragpg.errors import DatabaseError, NamespaceNotFound, RagpgError
from ragpg.ingest.changes import Changes
from ragpg.ingest.chunkers import AutoChunker
from ragpg.ingest.indexing import Forecast, Indexing, policy_named
from ragpg.ingest.namespace import kept_spaces, open_namespace
from ragpg.ingest.order import size_of
from ragpg.queries_spaces import FORMER_MODELS
from ragpg.queries_store import FINGERPRINTS, FOLD, MARK_FAILED
from ragpg.steps import Flow, fetch
from ragpg.types import FileReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.ingest.embedding import Space
    from ragpg.ingest.order import Order
    from ragpg.ingest.prepare import Item, Prepared, Raw
    from ragpg.protocols import AsyncEmbedder, Chunker, Embedder
    from ragpg.queries import NamespaceRow
    from ragpg.queries_store import Stored
    from ragpg.settings import Settings

#: New chunks of an ingest before it folds the statistics of words for the first time; with fewer no
#: word is so common that titles of it would wait.
FOLD_FROM = 256


class Run:
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
        #: New chunks so far, and at how many the statistics of words are folded next.
        self.written = 0
        self.fold_at = FOLD_FROM
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

    def fold(self) -> Flow[None]:
        """Let the next documents know which words are common, whenever what is written has doubled.

        In a transaction of its own, because whoever folds keeps others from it until its end. What
        another session is folding is left to that one.
        """
        if self.written < self.fold_at:
            return
        yield from fetch(FOLD, timeout=0)
        self.fold_at = 2 * self.written

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
