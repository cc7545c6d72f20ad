"""Which passages were shown, and which of them were followed."""

from ragpg.migrate import run_sql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

UPGRADE = """
-- Per passage and rank, because what is seen first is followed more often whatever it says. A chunk
-- that is unchanged by another ingest keeps its id and with it this history.
create table ragpg.feedback (
  namespace_id integer not null,
  chunk_id     bigint not null,
  rank         smallint not null check (rank between 1 and 20),
  shown        bigint not null check (shown > 0),
  followed     bigint not null default 0 check (followed between 0 and shown),
  first_at     timestamptz not null default now(),
  last_at      timestamptz not null default now(),
  primary key (namespace_id, chunk_id, rank),
  foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade
) with (fillfactor = 80);

-- How often passages at a rank are followed at all: what a passage is measured against.
create table ragpg.feedback_rank (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  rank         smallint not null check (rank between 1 and 20),
  shown        bigint not null,
  followed     bigint not null,
  primary key (namespace_id, rank)
) with (fillfactor = 50);
"""

DOWNGRADE = """
drop table ragpg.feedback_rank;
drop table ragpg.feedback;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
