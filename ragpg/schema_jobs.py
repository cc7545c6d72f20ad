"""The table of jobs as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

from ragpg.schema_columns import (
    big_identity,
    json_column,
    namespace_column,
    text_column,
    time_column,
)


def add_jobs(metadata: MetaData) -> None:
    """Add ragpg.job."""
    job = Table(
        "job",
        metadata,
        big_identity(primary_key=True),
        namespace_column(metadata, owned=True, primary_key=False, nullable=False),
        text_column("source", exact=True),
        text_column("kind"),
        Column("path", Text),
        Column("root", Text),
        Column("follow_links", Boolean, nullable=False, server_default=text("false")),
        Column("content", Text),
        Column("title", Text),
        Column("format", Text),
        json_column("metadata"),
        Column("size", BigInteger, nullable=False, server_default=text("0")),
        Column("batch", Text),
        _number("priority", "0"),
        text_column("state", server_default="waiting"),
        _number("attempts", "0"),
        _number("max_attempts", "5"),
        time_column("run_at"),
        time_column("created_at"),
        _time("started_at"),
        _time("finished_at"),
        _time("lease_until"),
        Column("worker", Text),
        _number("embedded", "0"),
        Column("chunks", Integer),
        Column("result", Text),
        Column("error", Text),
        CheckConstraint("kind in ('text', 'file', 'delete')"),
        CheckConstraint("state in ('waiting', 'running', 'done', 'quarantined')"),
        CheckConstraint("max_attempts > 0"),
        CheckConstraint("kind <> 'file' or path is not null and root is not null"),
    )
    waiting = text("state = 'waiting'")
    Index(
        "job_waiting", job.c.namespace_id, job.c.source, unique=True, postgresql_where=waiting
    )  # fmt: skip
    Index("job_source", job.c.namespace_id, job.c.source)
    Index("job_ready", job.c.priority.desc(), job.c.id, postgresql_where=waiting)
    Index("job_running", job.c.id, postgresql_where=text("state = 'running'"))
    Index("job_done", job.c.finished_at, postgresql_where=text("state = 'done'"))


def _number(name: str, default: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=text(default))


def _time(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True))
