"""The SQL of the queue, each with the type of its rows; see `ragpg.queries`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragpg.steps import Query, all_columns, one_column


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A job in the queue. `replaced`: a job of the same source, which still waited, gave way."""

    job_id: int
    source: str
    replaced: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a worker has. `kind` is text, file or delete; `attempts` counts this one; `server`
    tells the run of the server in which it was taken from others."""

    id: int
    namespace: str
    source: str
    kind: str
    path: str | None
    root: str | None
    follow_links: bool
    content: str | None
    title: str | None
    format: str | None
    metadata: Mapping[str, Any]
    attempts: int
    server: str


@dataclass(frozen=True, slots=True)
class JobInfo:
    """A job as `ragpg.jobs` shows it. `state` is waiting, delayed, running, lost (its worker does
    not answer), done or quarantined. Times have a time zone."""

    id: int
    namespace: str
    source: str
    kind: str
    state: str
    priority: int
    attempts: int
    max_attempts: int
    result: str | None
    chunks: int | None
    embedded: int
    error: str | None
    worker: str | None
    batch: str | None
    created_at: datetime
    run_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the jobs of a namespace and batch are; `percent` is from 0 to 100."""

    namespace: str
    batch: str | None
    jobs: int
    waiting: int
    running: int
    done: int
    quarantined: int
    percent: float
    chunks: int
    embedded: int
    last_minute: int


ENQUEUE = Query(
    """
select job_id, source, replaced
  from ragpg.enqueue_jobs(%(namespace)s, %(jobs)s::text::jsonb, %(priority)s,
         make_interval(secs => %(delay)s), %(max_attempts)s, %(batch)s, %(language)s)
""",
    Enqueued,
)

JOBS = Query(
    """
select id, namespace, source, kind, state, priority, attempts, max_attempts, result, chunks,
       embedded, error, worker, batch, created_at, run_at, started_at, finished_at
  from ragpg.jobs
 where (%(namespace)s::text is null or namespace = %(namespace)s)
   and (%(state)s::text is null or state = %(state)s)
 order by id desc
 limit %(k)s
""",
    JobInfo,
    reads=True,
)

PROGRESS = Query(
    """
select namespace, batch, jobs, waiting, running, done, quarantined, percent::float8,
       chunks, embedded, last_minute
  from ragpg.job_progress
 where %(namespace)s::text is null or namespace = %(namespace)s
 order by created_at desc, namespace, batch
""",
    Progress,
    reads=True,
)

RETRY = Query("select ragpg.retry_jobs(%(namespace)s, %(ids)s::bigint[])", one_column)

DELETE_JOBS = Query(
    "select ragpg.delete_jobs(%(ids)s::bigint[], %(namespace)s, %(state)s)", one_column
)  # fmt: skip

CLAIM_JOBS = Query(
    """
select job_id, namespace, source, kind, path, root, follow_links, content, title, format,
       metadata, attempts, ragpg.server_start()
  from ragpg.claim_jobs(%(worker)s, %(k)s, make_interval(secs => %(lease)s),
         %(folders)s::text[], %(refused)s::text[])
""",
    Job,
)

HOLD = Query("select ragpg.hold_jobs(%(worker)s, %(ids)s::bigint[])", one_column)

EXTEND = Query(
    """
select ragpg.extend_jobs(%(worker)s, %(ids)s::bigint[], make_interval(secs => %(lease)s),
         %(embedded)s)
""",
    one_column,
)

#: Nothing where the server is not the one under which the jobs were taken.
FINISH = Query(
    """
select ragpg.finish_jobs(%(worker)s, %(ids)s::bigint[], %(results)s::text[],
         %(chunks)s::integer[], %(embedded)s::integer[])
 where ragpg.server_start() = %(server)s
""",
    one_column,
)

FAIL = Query(
    """
select ragpg.fail_job(%(worker)s, %(id)s, %(error)s, make_interval(secs => %(delay)s), %(counts)s)
""",
    one_column,
)

GIVE_BACK = Query(
    """
select ragpg.release_jobs(%(worker)s, %(ids)s::bigint[], make_interval(secs => %(delay)s),
         %(error)s)
""",
    one_column,
)

OPEN_JOBS = Query(
    "select mine, elsewhere from ragpg.open_jobs(%(folders)s::text[], %(refused)s::text[])",
    all_columns,
    reads=True,
)

PRUNE = Query("select ragpg.prune_jobs(make_interval(secs => %(older)s))", one_column)

NOTIFY = Query("select pg_catalog.pg_notify('ragpg_jobs', %(word)s)", one_column)
