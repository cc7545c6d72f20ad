"""Namespaces, documents, chunks, keyword index, embedding spaces, links.

Functions, views, triggers, comments and grants are files in sql/; here is state only.
"""

from ragpg.migrate import run_sql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

UPGRADE = """
create table ragpg.install (
  only_row     boolean primary key default true check (only_row),
  version      text not null,
  digest       text not null,
  installed_at timestamptz not null default now()
);

-- One table ragpg.embedding_<id> per space holds its vectors: a typed column is what keeps the
-- index usable under every plan.
create table ragpg.embedding_space (
  id          integer generated always as identity primary key,
  model       text not null check (model <> ''),
  dimensions  integer not null check (dimensions between 1 and 16000),
  type        text not null default 'halfvec' check (type in ('halfvec', 'vector')),
  created_at  timestamptz not null default now(),
  unique (model, dimensions, type)
);

-- Names compare byte by byte: 'north', 'NORTH' and 'north ' are three namespaces.
create table ragpg.namespace (
  id                 integer generated always as identity primary key,
  name               text collate "C" not null unique
                     check (name !~ '^[[:space:]]*$' and octet_length(name) <= 1024),
  kind               text not null default 'knowledge' check (kind in ('knowledge', 'memory')),
  text_search_config text not null default 'english',
  space_id           integer references ragpg.embedding_space (id),
  average_length     real check (average_length > 0),
  settings           jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
  created_at         timestamptz not null default now()
);
create index namespace_space_id on ragpg.namespace (space_id);

create table ragpg.document (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  id           bigint generated always as identity,
  source       text collate "C" not null check (source <> ''),
  title        text not null default '',
  format       text not null default 'text',
  content_hash bytea,
  fingerprint  bytea,
  metadata     jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  version      integer not null default 1,
  status       text not null default 'ready' check (status in ('ready', 'empty', 'failed')),
  error        text,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (namespace_id, id),
  unique (namespace_id, source)
);

create table ragpg.chunk (
  namespace_id   integer not null,
  id             bigint generated always as identity,
  document_id    bigint not null,
  ordinal        integer not null check (ordinal >= 0),
  content        text not null check (content <> ''),
  prefix         text not null default '',
  breadcrumb     text not null default '',
  start_char     integer,
  end_char       integer,
  start_line     integer,
  end_line       integer,
  page           integer,
  metadata       jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  content_hash   bytea not null,
  embedding_hash bytea,
  created_at     timestamptz not null default now(),
  primary key (namespace_id, id),
  foreign key (namespace_id, document_id)
    references ragpg.document (namespace_id, id) on delete cascade,
  unique (namespace_id, document_id, ordinal)
);
create index chunk_metadata on ragpg.chunk using gin (namespace_id, metadata jsonb_path_ops);
create index chunk_recency on ragpg.chunk (namespace_id, created_at desc, id desc);

-- What keyword search reads, one narrow row per chunk, written by a trigger on ragpg.chunk.
-- There is no foreign key on purpose: a cascade deletes row by row and would log every chunk
-- apart, the trigger deletes and logs a statement at a time.
create table ragpg.chunk_keyword (
  namespace_id integer not null,
  chunk_id     bigint not null,
  length       real not null,
  bm25         sparsevec not null,
  lexemes      tsvector not null,
  primary key (namespace_id, chunk_id)
);
alter table ragpg.chunk_keyword alter column bm25 set storage main;
create index chunk_keyword_lexemes on ragpg.chunk_keyword using gin (namespace_id, lexemes);

create table ragpg.lexeme_statistics (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  lexeme       text collate "C" not null,
  documents    bigint not null,
  primary key (namespace_id, lexeme)
) with (fillfactor = 80);

create table ragpg.namespace_statistics (
  namespace_id integer primary key references ragpg.namespace (id) on delete cascade,
  chunks       bigint not null default 0,
  length       double precision not null default 0
);

-- Writers append one row per statement and never wait for each other; fold_statistics merges.
create table ragpg.keyword_log (
  id           bigint generated always as identity primary key,
  namespace_id integer not null,
  sign         smallint not null check (sign in (-1, 1)),
  chunks       integer not null,
  length       double precision not null,
  lexemes      tsvector[] not null
);

create table ragpg.embedding_cache (
  space_id   integer not null references ragpg.embedding_space (id) on delete cascade,
  hash       bytea not null,
  embedding  vector not null,
  created_at timestamptz not null default now(),
  primary key (space_id, hash)
);

-- Who is computing which embedding right now; lost at a crash, which is right.
create unlogged table ragpg.embedding_claim (
  space_id   integer not null,
  hash       bytea not null,
  expires_at timestamptz not null,
  primary key (space_id, hash)
);

-- Links between documents, current to the ingest transaction. The target is a source, whether a
-- document of that source exists or not.
create table ragpg.link (
  namespace_id integer not null,
  document_id  bigint not null,
  target       text collate "C" not null,
  anchor       text not null default '',
  primary key (namespace_id, document_id, target, anchor),
  foreign key (namespace_id, document_id)
    references ragpg.document (namespace_id, id) on delete cascade
);
create index link_target on ragpg.link (namespace_id, target);

-- Column order is what a person reads first.
create type ragpg.hit as (
  rank        integer,
  score       double precision,
  namespace   text,
  source      text,
  title       text,
  document_id bigint,
  chunk_id    bigint,
  chunk_index integer,
  content     text,
  breadcrumb  text,
  metadata    jsonb,
  start_line  integer,
  end_line    integer,
  start_char  integer,
  end_char    integer,
  page        integer,
  version     integer,
  arms        jsonb
);

-- One row of one arm's ranking.
create type ragpg.arm_hit as (
  arm          text,
  namespace_id integer,
  chunk_id     bigint,
  rank         integer,
  score        double precision,
  mode         text,
  weight       double precision
);
"""

DOWNGRADE = """
do $$
declare
  space integer;
begin
  for space in select embedding_space.id from ragpg.embedding_space loop
    execute format('drop table if exists ragpg.embedding_%s', space);
  end loop;
end $$;
drop type ragpg.arm_hit;
drop type ragpg.hit;
drop table ragpg.link;
drop table ragpg.embedding_claim;
drop table ragpg.embedding_cache;
drop table ragpg.keyword_log;
drop table ragpg.namespace_statistics;
drop table ragpg.lexeme_statistics;
drop table ragpg.chunk_keyword;
drop table ragpg.chunk;
drop table ragpg.document;
drop table ragpg.namespace;
drop table ragpg.embedding_space;
drop table ragpg.install;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
