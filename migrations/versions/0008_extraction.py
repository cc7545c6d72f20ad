"""What a chat model said of chunks and of communities, kept by content."""

from ragpg.migrate import run_sql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

UPGRADE = """
-- By the text that was read and by who read it (model and prompt): nothing is paid for twice.
create table ragpg.extraction_cache (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  extractor    text collate "C" not null check (extractor <> ''),
  hash         bytea not null,
  result       jsonb not null check (jsonb_typeof(result) = 'object'),
  created_at   timestamptz not null default now(),
  primary key (namespace_id, extractor, hash)
);

-- Which chunk's entities and relations are in the graph, of which text and by whom.
create table ragpg.extraction (
  namespace_id integer not null,
  chunk_id     bigint not null,
  extractor    text collate "C" not null,
  hash         bytea not null,
  primary key (namespace_id, chunk_id),
  foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade
);

-- By what the members of a community say (digest) and by who wrote (model and prompt). The
-- community that it tells of now may have changed since; null: none, kept as a cache.
create table ragpg.community_report (
  namespace_id integer not null references ragpg.namespace (id) on delete cascade,
  reporter     text collate "C" not null check (reporter <> ''),
  digest       bytea not null,
  community_id bigint,
  members      bigint[] not null,
  title        text not null check (title <> ''),
  summary      text not null check (summary <> ''),
  findings     jsonb not null default '[]' check (jsonb_typeof(findings) = 'array'),
  lexemes      tsvector not null,
  space_id     integer references ragpg.embedding_space (id) on delete set null,
  embedding    vector,
  created_at   timestamptz not null default now(),
  primary key (namespace_id, reporter, digest),
  foreign key (namespace_id, community_id)
    references ragpg.community (namespace_id, id) on delete set null (community_id)
);
create index community_report_community on ragpg.community_report (namespace_id, community_id);
create index community_report_space on ragpg.community_report (space_id);
"""

DOWNGRADE = """
drop table ragpg.community_report;
drop table ragpg.extraction;
drop table ragpg.extraction_cache;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
