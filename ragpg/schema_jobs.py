"""The table of jobs as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB


def add_jobs(metadata: MetaData) -> None:
    """Add ragpg.job."""
    job = Table(
        "job",
        metadata,
        Column("id", BigInteger, Identity(always=True), primary_key=True),
        Column(
            "namespace_id",
            Integer,
            ForeignKey(f"{metadata.schema}.namespace.id", ondelete="CASCADE"),
            nullable=False,
        ),
        Column("source", Text(collation="C"), nullable=False),
        Column("kind", Text, nullable=False),
        Column("path", Text),
        Column("root", Text),
        Column("follow_links", Boolean, nullable=False, server_default=text("false")),
        Column("content", Text),
        Column("title", Text),
        Column("format", Text),
        Column("metadata", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
        Column("size", BigInteger, nullable=False, server_default=text("0")),
        Column("batch", Text),
        _number("priority", "0"),
        Column("state", Text, nullable=False, server_default="waiting"),
        _number("attempts", "0"),
        _number("max_attempts", "5"),
        _time("run_at", given=True),
        _time("created_at", given=True),
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


def _time(name: str, *, given: bool = False) -> Column[Any]:
    kind = DateTime(timezone=True)
    if given:
        return Column(name, kind, nullable=False, server_default=text("now()"))
    return Column(name, kind)
