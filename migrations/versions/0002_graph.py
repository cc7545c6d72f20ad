"""Entities, mentions, relations, resolved links, communities and ranks.

Nodes are ragpg.document, ragpg.chunk, ragpg.entity and ragpg.community. Edges are rows of link,
mention, topic, relation and edge; each has an id of its own. Ids stay below 2^48.
"""

from ragpg.migrate import run_sql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

UPGRADE = r"""
-- Their arguments have changed.
drop function if exists ragpg.graph_search(bigint[], text[], jsonb, integer);
drop function if exists ragpg.graph_arm(bigint[], integer[], jsonb, integer);

-- A path as links are matched: small letters, without the endings that sites leave out, and without
-- the name of a folder's front page.
alter table ragpg.document add column path text collate "C" not null generated always as (
  regexp_replace(regexp_replace(lower(source collate pg_c_utf8),
    '\.(md|mdx|markdown|html?|xhtml|rst|txt|adoc)$', ''), '(^|/)(_?index|readme)$', '') collate "C")
  stored;
-- Read backwards, so that the documents below any site root are one range. Long paths are cut: a
-- btree holds 2,704 bytes.
create index document_path on ragpg.document (namespace_id, left(reverse(path), 600));

-- Links are edges between documents as soon as their target is one.
alter table ragpg.link
  add column id bigint generated always as identity,
  add column path text collate "C" not null generated always as (
    regexp_replace(regexp_replace(lower(target collate pg_c_utf8),
      '\.(md|mdx|markdown|html?|xhtml|rst|txt|adoc)$', ''), '(^|/)(_?index|readme)$', '')
    collate "C") stored,
  add column target_id bigint,
  -- So many documents it may mean: 1 is resolved, 0 leads nowhere, 2 is two or more.
  add column matches smallint not null default 0,
  add foreign key (namespace_id, target_id)
    references ragpg.document (namespace_id, id) on delete set null (target_id);
create index link_path on ragpg.link (namespace_id, left(path, 600));
create index link_out on ragpg.link (namespace_id, document_id) include (target_id);
create index link_in on ragpg.link (namespace_id, target_id) include (document_id)
  where target_id is not null;

-- The key is the name as names are compared; see ragpg.entity_key.
create table ragpg.entity (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  id           bigint generated always as identity,
  key          text collate "C" not null check (key <> '' and octet_length(key) <= 600),
  name         text not null check (name <> ''),
  kind         text not null default 'name',
  created_at   timestamptz not null default now(),
  primary key (namespace_id, id),
  unique (namespace_id, key)
);

-- A chunk names an entity. What is said of it there goes when the chunk goes.
create table ragpg.mention (
  namespace_id integer not null,
  chunk_id     bigint not null,
  entity_id    bigint not null,
  origin       text collate "C" not null default 'names',
  id           bigint generated always as identity,
  weight       real not null default 1 check (weight > 0),
  description  text not null default '',
  primary key (namespace_id, chunk_id, entity_id, origin),
  foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade,
  foreign key (namespace_id, entity_id) references ragpg.entity (namespace_id, id) on delete cascade
);
create index mention_entity on ragpg.mention (namespace_id, entity_id, weight desc, chunk_id);

-- A document is about an entity: its title names it.
create table ragpg.topic (
  namespace_id integer not null,
  document_id  bigint not null,
  entity_id    bigint not null,
  id           bigint generated always as identity,
  weight       real not null default 1 check (weight > 0),
  primary key (namespace_id, document_id, entity_id),
  foreign key (namespace_id, document_id)
    references ragpg.document (namespace_id, id) on delete cascade,
  foreign key (namespace_id, entity_id) references ragpg.entity (namespace_id, id) on delete cascade
);
create index topic_entity on ragpg.topic (namespace_id, entity_id, weight desc, document_id);

-- How the title of some document is found in texts: texts with its rarest-looking lexeme, the
-- anchor, then with all its lexemes, then with its words in a row. One row an entity, whatever the
-- number of documents.
create table ragpg.phrase (
  namespace_id integer not null,
  entity_id    bigint not null,
  anchor       text collate "C" not null,
  query        tsquery not null,
  primary key (namespace_id, entity_id),
  foreign key (namespace_id, entity_id) references ragpg.entity (namespace_id, id) on delete cascade
);
-- The anchor leads, so that nobody takes this index for a way to the rows of a namespace.
create index phrase_anchor on ragpg.phrase (anchor, namespace_id);

-- One chunk's statement that one entity stands in a relation to another.
create table ragpg.relation (
  namespace_id integer not null,
  source       bigint not null,
  target       bigint not null,
  kind         text collate "C" not null,
  chunk_id     bigint not null,
  id           bigint generated always as identity,
  weight       real not null default 1 check (weight > 0),
  description  text not null default '',
  primary key (namespace_id, chunk_id, source, target, kind),
  foreign key (namespace_id, source) references ragpg.entity (namespace_id, id) on delete cascade,
  foreign key (namespace_id, target) references ragpg.entity (namespace_id, id) on delete cascade,
  foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade
);
create index relation_source on ragpg.relation (namespace_id, source, weight desc)
  include (target, kind, chunk_id);
create index relation_target on ragpg.relation (namespace_id, target, weight desc)
  include (source, kind, chunk_id);

-- What an analysis derives, as of graph_state: edges between documents that share rare terms,
-- communities, PageRank. An edge is stored once, from the lower id to the higher.
create table ragpg.graph_state (
  namespace_id integer primary key references ragpg.namespace (id) on delete cascade,
  analysed_at  timestamptz not null,
  documents    bigint not null,
  details      jsonb not null default '{}'
);

create table ragpg.edge (
  namespace_id integer not null,
  source       bigint not null,
  target       bigint not null,
  kind         text collate "C" not null,
  id           bigint generated always as identity,
  weight       real not null check (weight > 0),
  primary key (namespace_id, source, target, kind),
  check (source < target),
  foreign key (namespace_id, source) references ragpg.document (namespace_id, id) on delete cascade,
  foreign key (namespace_id, target) references ragpg.document (namespace_id, id) on delete cascade
);
create index edge_source on ragpg.edge (namespace_id, source, weight desc) include (target, kind);
create index edge_target on ragpg.edge (namespace_id, target, weight desc) include (source, kind);

create table ragpg.community (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  id           bigint generated always as identity,
  name         text not null default '',
  size         integer not null default 0,
  hub_id       bigint,
  digest       bytea,
  primary key (namespace_id, id),
  foreign key (namespace_id, hub_id)
    references ragpg.document (namespace_id, id) on delete set null (hub_id)
);
create index community_hub on ragpg.community (namespace_id, hub_id);

create table ragpg.document_rank (
  namespace_id integer not null,
  document_id  bigint not null,
  pagerank     real not null default 0,
  community_id bigint,
  primary key (namespace_id, document_id),
  foreign key (namespace_id, document_id)
    references ragpg.document (namespace_id, id) on delete cascade,
  foreign key (namespace_id, community_id)
    references ragpg.community (namespace_id, id) on delete set null (community_id)
);
create index document_rank_community on ragpg.document_rank
  (namespace_id, community_id, pagerank desc) include (document_id);

create table ragpg.entity_rank (
  namespace_id integer not null,
  entity_id    bigint not null,
  pagerank     real not null default 0,
  community_id bigint,
  primary key (namespace_id, entity_id),
  foreign key (namespace_id, entity_id)
    references ragpg.entity (namespace_id, id) on delete cascade,
  foreign key (namespace_id, community_id)
    references ragpg.community (namespace_id, id) on delete set null (community_id)
);
create index entity_rank_community on ragpg.entity_rank
  (namespace_id, community_id, pagerank desc) include (entity_id);
"""

DOWNGRADE = """
drop table ragpg.entity_rank;
drop table ragpg.document_rank;
drop table ragpg.community;
drop table ragpg.edge;
drop table ragpg.graph_state;
drop table ragpg.relation;
drop table ragpg.phrase;
drop table ragpg.topic;
drop table ragpg.mention;
drop table ragpg.entity;
alter table ragpg.link
  drop column id,
  drop column path,
  drop column target_id,
  drop column matches;
alter table ragpg.document drop column path;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
