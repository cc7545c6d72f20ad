"""One thread of a worker: it takes jobs, does them, and tells what became of each."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from ragpg.config.use import chunker_of
from ragpg.errors import (
    BadEmbedding,
    ConfigError,
    DatabaseError,
    DimensionMismatch,
    JobLost,
    PoolExhausted,
    ProviderError,
    RagpgError,
    RateLimited,
    ReadOnlyDatabase,
    SchemaMissing,
    SchemaOutdated,
)
from ragpg.ingest.indexing import build
from ragpg.jobs.pulse import Pulse
from ragpg.jobs.queries import CLAIM_JOBS, FAIL, FINISH, GIVE_BACK, OPEN_JOBS, PRUNE, Job
from ragpg.jobs.run import Batch, run_batch
from ragpg.jobs.watched import EmbedderWatch, Fenced, GivenUp
from ragpg.steps import fetch, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragpg.client import Client
    from ragpg.jobs.options import WorkOptions
    from ragpg.steps import Query
    from ragpg.types import FileReport

Row = TypeVar("Row")

#: Pauses while a service or the database is away, in seconds: the first, and the longest.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: How long a service may make a worker wait, in seconds.
LONGEST_WAIT = 600.0
#: How often a worker that waits looks whether it is to stop, in seconds.
_TICK = 0.2
#: How often old jobs are cleared away, in seconds.
_TIDY = 300.0
#: A vector index that is due waits for the end of the queue, but no longer than this, in seconds.
INDEX_PATIENCE = 300.0
#: What a database says of itself and not of a document: no room, no connection, out of memory.
_EXHAUSTED = ("53",)


class Loop:
    """One thread that does jobs, with another one that keeps them alive."""

    def __init__(
        self,
        client: Client,
        options: WorkOptions,
        stop: threading.Event,
        on_job: Callable[[Job, FileReport], object] | None,
        on_note: Callable[[str], object] | None,
    ) -> None:
        self.client = client
        self.options = options
        self.stop = stop
        self.on_job = on_job or (lambda job, report: None)
        self.note = on_note or (lambda text: None)
        self.name = f"{socket.gethostname()}:{os.getpid()}/{uuid.uuid4().hex[:8]}"
        self.folders = [os.path.abspath(one) for one in options.folders]
        self.refused: list[str] = []
        self.wake = threading.Event()
        self.pause = 0.0
        self.tidied = time.monotonic()
        self.told = False
        self.index_due: dict[int, float] = {}
        self.worked = time.monotonic()
        self.busy = False

    def quiet(self) -> float:
        """For how many seconds it has had nothing to do."""
        return 0.0 if self.busy else time.monotonic() - self.worked

    def run(self) -> None:
        """Take jobs and do them until the end."""
        while not self.stop.is_set():
            try:
                self.wake.clear()
                # Before jobs are taken, which would wait without a heartbeat.
                self._build_indexes(INDEX_PATIENCE)
                began = time.monotonic()
                jobs = self._claim()
                if jobs:
                    self.busy = True
                    try:
                        self._do(Batch(jobs))
                    finally:
                        self.worked, self.busy = time.monotonic(), False
                elif self._build_indexes(0):
                    continue
                elif self._is_over():
                    return
                else:
                    self.pause = 0.0
                    # Where looking is dear, because very many jobs are delayed, look seldom.
                    self._idle(max(self.options.poll, 20 * (time.monotonic() - began)))
                self._tidy()
            except RagpgError as error:
                if isinstance(error, (SchemaMissing, SchemaOutdated)):
                    raise
                if self.options.drain and isinstance(error, ReadOnlyDatabase):
                    raise  # Whoever waits for its end would wait for ever.
                self._wait(error, self._longer())

    def _fetch(self, query: Query[Row], **parameters: Any) -> list[Row]:
        return self.client.run(fetch(query, parameters))

    def _claim(self) -> list[Job]:
        return self._fetch(
            CLAIM_JOBS,
            worker=self.name,
            k=self.options.batch,
            lease=self.options.lease,
            folders=self.folders,
            refused=self.refused,
        )

    def _is_over(self) -> bool:
        [(mine, elsewhere)] = self._fetch(OPEN_JOBS, folders=self.folders, refused=self.refused)
        if elsewhere and not mine and not self.told:
            self.told = True
            self.note(
                "jobs wait that this worker may not do: their files are outside of its folders "
                f"({', '.join(self.folders) or 'none'}), or their namespace is of another model"
            )
        return self.options.drain and not mine

    def _tidy(self) -> None:
        if time.monotonic() - self.tidied > _TIDY:
            self.tidied = time.monotonic()
            self._fetch(PRUNE, older=self.options.keep)

    def _build_indexes(self, patience: float) -> bool:
        """Build the vector indexes that have been due for so long; one worker of all does it.
        Whether one was built."""

        def go_on(progress: object) -> None:
            if self.stop.is_set():
                raise GivenUp

        built = False
        for space_id, since in list(self.index_due.items()):
            began = time.monotonic()
            if began - since < patience:
                continue
            del self.index_due[space_id]
            try:
                if self.client.run(build(space_id, wait=False, on_progress=go_on)):
                    built = True
                    seconds = time.monotonic() - began
                    self.note(f"built the vector index of space {space_id} in {seconds:.1f} s")
            except GivenUp:
                self.note("the vector index is left to the next worker or ragpg doctor --fix")
        return built

    def _idle(self, seconds: float) -> None:
        """Wait for new jobs."""
        end = time.monotonic() + seconds
        while not self.stop.is_set() and (left := end - time.monotonic()) > 0:
            if self.wake.wait(min(left, _TICK)):
                return

    def _longer(self, asked: float | None = None) -> float:
        """Seconds to wait after a failure that is not a document's: more each time."""
        self.pause = min(max(2 * self.pause, FIRST_PAUSE), LONGEST_PAUSE)
        return max(self.pause, min(asked or 0.0, LONGEST_WAIT))

    def _wait(self, error: Exception, seconds: float) -> None:
        self.note(f"{_line(error)}; going on in {seconds:.0f} s")
        self.stop.wait(seconds)

    def _do(self, batch: Batch) -> None:
        """Do jobs; every one of them is ended in one way or another."""
        watched = None if self.client.embedder is None else EmbedderWatch()
        embedder = None if watched is None else watched.over(self.client.embedder)
        ids = [job.id for job in batch.jobs]
        pulse = Pulse(self.client, self.name, ids, self.options.lease, watched)
        pulse.start()
        fault: Exception | None = None
        fenced = Fenced(
            self.client._perform, self.name, ids, lambda: self.stop.is_set() or pulse.lost
        )
        try:
            chunker = self.options.chunker or chunker_of(
                self.client.config, embedder, batch.namespace
            )
            run(run_batch(batch, embedder, self.client.settings, chunker), fenced)
        except GivenUp:
            pass
        except JobLost as error:
            self.note(error.message)
        except Exception as error:
            fault = error
        except BaseException:
            # An interrupt: nobody should have to wait for the lease to run out.
            self._give_back(batch.jobs)
            raise
        finally:
            pulse.end()
        for remark in batch.notes:
            self.note(f"{batch.namespace}: {remark}")
        for space_id in batch.index_due:
            self.index_due.setdefault(space_id, time.monotonic())
        self._settle(batch, watched, fault)

    def _settle(self, batch: Batch, watched: EmbedderWatch | None, fault: Exception | None) -> None:
        done, failed, left = batch.outcomes()
        self._finish(done)
        unfinished = [*(job for job, _ in failed), *left]
        trouble = fault or (watched.error if watched is not None and failed else None)
        if isinstance(fault, (DimensionMismatch, ConfigError, BadEmbedding)):
            # Other workers may have the model of this namespace.
            self.refused.append(batch.namespace)
            self._give_back(unfinished, fault)
            self.note(f"leaving namespace {batch.namespace} to others: {_line(fault)}")
        elif trouble is not None and self._is_outage(trouble):
            seconds = self._longer(trouble.after if isinstance(trouble, RateLimited) else None)
            self._give_back(unfinished, trouble, seconds)
            self._wait(trouble, seconds)
        else:
            for job, report in failed:
                self._fail(job, report.reason or "it failed", counts=True)
                self.on_job(job, report)
            if fault is None:
                self._give_back(left)
                self.pause = 0.0
                return
            # An attempt that got somewhere does not count: the next one goes on from there.
            moved = len(batch.jobs) == 1 and watched is not None and watched.embedded > 0
            for job in left:
                self._fail(job, _line(fault), counts=not moved)
            if isinstance(fault, DatabaseError):
                self._wait(fault, self._longer())

    def _finish(self, done: Sequence[tuple[Job, FileReport]]) -> None:
        """End jobs; do them once more where the server was lost since they were taken.

        It may not know any more what it had committed last, and would know of their end alone.
        What it does know is found unchanged.
        """
        if done:
            jobs = [job for job, _ in done]
            ended = self._tell(
                FINISH,
                server=jobs[0].server,
                ids=[job.id for job in jobs],
                results=[report.status for _, report in done],
                chunks=[report.chunks for _, report in done],
                embedded=[report.embedded for _, report in done],
            )
            if not ended:
                self.note("the server was lost meanwhile: what was done is looked at again")
                self._give_back(jobs, JobLost("the server was lost meanwhile"))
                return
        for job, report in done:
            self.on_job(job, report)

    def _give_back(
        self, jobs: Sequence[Job], error: Exception | None = None, delay: float = 0.0
    ) -> None:
        if jobs:
            reason = None if error is None else _line(error)
            self._tell(GIVE_BACK, ids=[job.id for job in jobs], delay=delay, error=reason)

    def _fail(self, job: Job, reason: str, *, counts: bool) -> None:
        [state] = self._tell(FAIL, id=job.id, error=reason, delay=None, counts=counts)
        if state == "quarantined":
            self.note(f"{job.source} is in quarantine after {job.attempts} attempts: {reason}")

    def _tell(self, query: Query[Row], **parameters: Any) -> list[Row]:
        """Tell the database what became of jobs, also when it comes back only after a while. After
        a lease's time it has given them to others, and need not know."""
        end = time.monotonic() + self.options.lease
        while True:
            try:
                return self._fetch(query, worker=self.name, **parameters)
            except DatabaseError:
                if self.stop.is_set() or time.monotonic() > end:
                    raise
                self.stop.wait(FIRST_PAUSE)

    def _is_outage(self, error: Exception) -> bool:
        """Whether the service or the database is away, rather than a document at fault."""
        if isinstance(error, ProviderError) and error.scope != "unknown":
            return error.scope == "service"
        if isinstance(error, DatabaseError):
            exhausted = (error.sqlstate or "").startswith(_EXHAUSTED)
            return exhausted or isinstance(error, (PoolExhausted, ReadOnlyDatabase))
        if isinstance(error, RagpgError) and not isinstance(error, ProviderError):
            return False
        # An embedder of the user's own says nothing of that kind: ask it for something harmless.
        try:
            self.client.embedder.embed_documents(["a"])  # type: ignore[union-attr]
        except Exception:
            return True
        return False


def _line(error: Exception) -> str:
    """An error on one line. Those of foreign code say what they are."""
    text = " ".join(str(error).split())
    return text if isinstance(error, RagpgError) else f"{type(error).__name__}: {text}"
