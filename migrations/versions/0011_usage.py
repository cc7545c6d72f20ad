"""What models cost, and which transactions wrote to a namespace."""

from ragpg.migrate import run_sql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

UPGRADE = """
-- Days are those of UTC.
create table ragpg.usage (
  namespace_id  integer not null references ragpg.namespace (id) on delete cascade,
  day           date not null,
  category      text not null,
  model         text collate "C" not null,
  requests      bigint not null check (requests >= 0),
  input_tokens  bigint not null,
  output_tokens bigint not null,
  cost_usd      numeric not null,
  unpriced      bigint not null,
  primary key (namespace_id, day, category, model)
);

-- No foreign key: a namespace that is dropped is written to until its last row is gone.
create table ragpg.namespace_write (
  namespace_id integer not null,
  xid          bigint not null,
  mark         bigint not null,
  primary key (namespace_id, xid)
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
"""

DOWNGRADE = """
drop table ragpg.namespace_write;
drop table ragpg.usage;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
