"""Steps through hubs read no more than they follow; an analysis knows the versions it has seen."""

from ragpg.migrate import run_sql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UPGRADE = """
-- The primary key begins with the same, and more of it: a document of 20,000 links had each of them
-- looked up among all.
drop index ragpg.link_out;
-- In the order in which they are followed: a hub of 100,000 links was read whole for fifty of them.
drop index ragpg.link_in;
create index link_in on ragpg.link (namespace_id, target_id, document_id)
  where target_id is not null;
drop index ragpg.link_target;
create index link_target on ragpg.link (namespace_id, target, document_id) where matches = 0;
drop index ragpg.relation_source;
create index relation_source on ragpg.relation (namespace_id, source, weight desc, target)
  include (kind, chunk_id);
drop index ragpg.relation_target;
create index relation_target on ragpg.relation (namespace_id, target, weight desc, source)
  include (kind, chunk_id);
drop index ragpg.edge_source;
create index edge_source on ragpg.edge (namespace_id, source, weight desc, target)
  include (kind);
drop index ragpg.edge_target;
create index edge_target on ragpg.edge (namespace_id, target, weight desc, source)
  include (kind);

-- The version of a document that the last analysis has seen, and what a running one has noted.
alter table ragpg.document_rank add column version integer, add column noted integer;
update ragpg.document_rank as rank set version = document.version, noted = document.version
  from ragpg.document, ragpg.graph_state as state
 where document.namespace_id = rank.namespace_id and document.id = rank.document_id
   and state.namespace_id = rank.namespace_id
   and document.updated_at <= state.analysed_at and rank.pagerank > 0;
"""

DOWNGRADE = """
create index link_out on ragpg.link (namespace_id, document_id) include (target_id);
alter table ragpg.document_rank drop column noted, drop column version;
drop index ragpg.relation_source;
create index relation_source on ragpg.relation (namespace_id, source, weight desc)
  include (target, kind, chunk_id);
drop index ragpg.relation_target;
create index relation_target on ragpg.relation (namespace_id, target, weight desc)
  include (source, kind, chunk_id);
drop index ragpg.edge_source;
create index edge_source on ragpg.edge (namespace_id, source, weight desc)
  include (target, kind);
drop index ragpg.edge_target;
create index edge_target on ragpg.edge (namespace_id, target, weight desc)
  include (source, kind);
drop index ragpg.link_target;
create index link_target on ragpg.link (namespace_id, target);
drop index ragpg.link_in;
create index link_in on ragpg.link (namespace_id, target_id)
  include (document_id) where target_id is not null;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
