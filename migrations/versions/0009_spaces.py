"""Further embedding spaces of a namespace, for a change of the model."""

from ragpg.migrate import run_sql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

UPGRADE = """
-- Spaces that writers fill beside the one that is searched (namespace.space_id): one that is being
-- built, and the former one, which stays complete so that there is a way back.
create table ragpg.namespace_space (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  space_id     integer not null references ragpg.embedding_space (id),
  state        text not null check (state in ('building', 'former')),
  since        timestamptz not null default now(),
  primary key (namespace_id, space_id)
);
create index namespace_space_space_id on ragpg.namespace_space (space_id);
"""

DOWNGRADE = """
drop table ragpg.namespace_space;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
