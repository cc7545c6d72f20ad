"""The job queue."""

from ragpg.migrate import run_sql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

UPGRADE = """
-- What workers are to ingest. A source has at most one job that waits: a newer one takes its place,
-- so that two jobs never wait for each other and the last text told is the one that stays.
create table ragpg.job (
  id           bigint generated always as identity primary key,
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  source       text collate "C" not null,
  kind         text not null check (kind in ('text', 'file', 'delete')),
  path         text,
  root         text,
  follow_links boolean not null default false,
  content      text,
  title        text,
  format       text,
  metadata     jsonb not null default '{}',
  size         bigint not null default 0,
  batch        text,
  priority     integer not null default 0,
  state        text not null default 'waiting'
               check (state in ('waiting', 'running', 'done', 'quarantined')),
  attempts     integer not null default 0,
  max_attempts integer not null default 5 check (max_attempts > 0),
  run_at       timestamptz not null default now(),
  created_at   timestamptz not null default now(),
  started_at   timestamptz,
  finished_at  timestamptz,
  lease_until  timestamptz,
  worker       text,
  embedded     integer not null default 0,
  chunks       integer,
  result       text,
  error        text,
  check (kind <> 'file' or path is not null and root is not null)
) with (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05
);
create unique index job_waiting on ragpg.job (namespace_id, source) where state = 'waiting';
create index job_source on ragpg.job (namespace_id, source);
create index job_ready on ragpg.job (priority desc, id) where state = 'waiting';
-- The lease is not in the index: heartbeats write no index that way.
create index job_running on ragpg.job (id) where state = 'running';
create index job_done on ragpg.job (finished_at) where state = 'done';
"""

DOWNGRADE = """
drop table ragpg.job;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
