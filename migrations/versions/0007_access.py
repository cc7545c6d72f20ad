"""Which roles may use a namespace."""

from ragpg.migrate import run_sql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

UPGRADE = """
-- A namespace without a row here is open to every role that may use the schema.
create table ragpg.namespace_access (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  role_name    text collate "C" not null,
  primary key (namespace_id, role_name)
);
"""

DOWNGRADE = """
do $$
declare
  place regclass;
begin
  for place in select pg_class.oid::regclass from pg_catalog.pg_class
                where pg_class.relnamespace = 'ragpg'::regnamespace and pg_class.relrowsecurity loop
    execute format('alter table %s disable row level security', place);
  end loop;
end $$;
drop table ragpg.namespace_access;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
