"""Cached vectors of texts that are gone are noticed, and forgotten after a while."""

from ragpg.migrate import run_sql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

UPGRADE = """
-- Beside the cache and not in it: a note of 40 bytes must not rewrite a vector of 1,500.
create table ragpg.embedding_unused (
  space_id integer not null,
  hash     bytea not null,
  since    timestamptz not null default now(),
  primary key (space_id, hash),
  foreign key (space_id, hash) references ragpg.embedding_cache (space_id, hash) on delete cascade
);
"""

DOWNGRADE = """
drop function if exists ragpg.prune_embedding_cache(interval, integer);
drop table ragpg.embedding_unused;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
