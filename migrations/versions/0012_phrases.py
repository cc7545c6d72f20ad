"""Titles are found by all of their words at once; those of common words wait for the analysis."""

from ragpg.migrate import run_sql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

UPGRADE = """
-- A text that has the anchor (the first two words, or the only one) may have the run (the first
-- eight), and that is asked by equality, however many titles begin alike. A title waits while
-- chunks that were there before it have not been searched for it.
alter table ragpg.phrase
  add column run text collate "C",
  add column waits boolean not null default false;
with known as (
  select phrase.namespace_id, phrase.entity_id,
         octet_length(phrase.anchor) = length(phrase.anchor) as ascii,
         string_to_array(
           trim(regexp_replace(entity.key collate "C", '[^a-z0-9]+', ' ', 'g')), ' ') as words
    from ragpg.phrase
    join ragpg.entity
      on entity.namespace_id = phrase.namespace_id and entity.id = phrase.entity_id
)
update ragpg.phrase
   set anchor = case when known.ascii then array_to_string(known.words[1:2], ' ') else anchor end,
       run = case when known.ascii then array_to_string(known.words[1:8], ' ') else anchor end
  from known
 where phrase.namespace_id = known.namespace_id and phrase.entity_id = known.entity_id;
alter table ragpg.phrase alter column run set not null;
create index phrase_run on ragpg.phrase (run, namespace_id);
create index phrase_waits on ragpg.phrase (namespace_id, entity_id) where waits;
-- The manifest makes them anew with other arguments and columns.
drop function if exists ragpg.find_titles(integer, bigint[], bigint[]);
drop function if exists ragpg.link_matches(integer, text, text);
drop function if exists ragpg.graph_status(text[]);
"""

DOWNGRADE = """
drop index ragpg.phrase_waits;
drop index ragpg.phrase_run;
alter table ragpg.phrase drop column waits, drop column run;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
