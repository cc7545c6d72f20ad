"""Jobs of one namespace -> one ingest, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragpg.ingest.clean import clean_name
from ragpg.ingest.discover import discover_below
from ragpg.ingest.order import Order
from ragpg.ingest.pipeline import ingest
from ragpg.ingest.prepare import Item
from ragpg.queries_store import DELETE
from ragpg.steps import Fetch, Flow, Transact, call
from ragpg.types import FileReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.jobs.queries import Job
    from ragpg.protocols import Chunker, Embedder
    from ragpg.settings import Settings


@dataclass(slots=True)
class Batch:
    """Jobs that are done together, and the reports of those that have ended, by id."""

    jobs: Sequence[Job]
    reports: dict[int, FileReport] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    #: Embedding spaces whose vector index is to be built.
    index_due: set[int] = field(default_factory=set)

    @property
    def namespace(self) -> str:
        return self.jobs[0].namespace

    def outcomes(
        self,
    ) -> tuple[list[tuple[Job, FileReport]], list[tuple[Job, FileReport]], list[Job]]:
        """Jobs that are done, that failed, and that nothing is known of."""
        known = [(job, self.reports[job.id]) for job in self.jobs if job.id in self.reports]
        done = [pair for pair in known if pair[1].status != "failed"]
        failed = [pair for pair in known if pair[1].status == "failed"]
        return done, failed, [job for job in self.jobs if job.id not in self.reports]


def run_batch(
    batch: Batch, embedder: Embedder | None, settings: Settings, chunker: Chunker | None
) -> Flow[None]:
    """Do jobs of one namespace. What ends before an error is in the batch's reports."""
    named: dict[str, list[Job]] = {}
    items: list[Item] = []
    deleted: list[Job] = []
    for job in batch.jobs:
        source = clean_name(job.source)
        if job.kind == "delete":
            deleted.append(job)
            continue
        if job.kind == "file":
            found = yield from call(_file, job, source, settings.max_file_size)
        else:
            found = Item(
                source, text=job.content or "", title=job.title, format=job.format,
                metadata=job.metadata,
            )  # fmt: skip
        if isinstance(found, FileReport):
            batch.reports[job.id] = found
            continue
        if source not in named:
            items.append(found)
        named.setdefault(source, []).append(job)
    if deleted:
        sources = [job.source for job in deleted]
        yield Transact((Fetch(DELETE, {"namespace": batch.namespace, "sources": sources}),))
        batch.reports |= {job.id: FileReport(job.source, "removed") for job in deleted}
    if not items:
        return

    def ended(report: FileReport) -> None:
        for job in named.get(report.source, ()):
            batch.reports[job.id] = report

    order = Order(
        items=items, namespace=batch.namespace, chunker=chunker, on_file=ended,
        on_index_due=batch.index_due.add,
    )  # fmt: skip
    report = yield from ingest(order, embedder, settings)
    batch.notes += report.notes


def _file(job: Job, source: str, max_bytes: int) -> Item | FileReport:
    """The file of a job, looked at anew: since it was found it may have become a link that leads
    out of its folder."""
    found = discover_below(
        job.root or "", [job.path or ""], follow_links=job.follow_links, max_bytes=max_bytes
    )
    if found.files:
        return Item(source, file=replace(found.files[0], source=source), metadata=job.metadata)
    reason = found.rejected[0].reason if found.rejected else "no such file"
    return FileReport(source, "failed", reason=f"{job.path}: {reason}")
