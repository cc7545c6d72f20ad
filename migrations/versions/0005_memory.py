"""Remembered texts: when, how often, and what took their place."""

from ragpg.migrate import run_sql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

UPGRADE = """
-- What is known of a remembered text beside the text itself, which is a document of one chunk in a
-- namespace of kind memory. A newer fact demotes an older one and never deletes it; when the newer
-- one is forgotten the older one counts again.
create table ragpg.memory (
  namespace_id  integer not null,
  document_id   bigint not null,
  key           text collate "C",
  remembered_at timestamptz not null default now(),
  last_seen_at  timestamptz not null default now(),
  seen          integer not null default 1 check (seen > 0),
  superseded_by bigint check (superseded_by <> document_id),
  superseded_at timestamptz,
  primary key (namespace_id, document_id),
  foreign key (namespace_id, document_id)
    references ragpg.document (namespace_id, id) on delete cascade,
  foreign key (namespace_id, superseded_by)
    references ragpg.document (namespace_id, id) on delete set null (superseded_by)
);
create index memory_key on ragpg.memory (namespace_id, key) where key is not null;
create index memory_superseded_by on ragpg.memory (namespace_id, superseded_by)
  where superseded_by is not null;
"""

DOWNGRADE = """
drop table ragpg.memory;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
