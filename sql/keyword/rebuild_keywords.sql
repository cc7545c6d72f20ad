-- Keyword rows carry the average length as a constant; this makes it true again, and the
-- statistics with it.
create or replace function ragpg.rebuild_keywords(namespace text, max_drift double precision default 0)
returns boolean
language plpgsql
set search_path from current
as $$
declare
  owner ragpg.namespace;
  truth double precision;
begin
  perform ragpg.namespace_ids(array[rebuild_keywords.namespace]);
  select target.* into owner from ragpg.namespace as target
   where target.name = rebuild_keywords.namespace for no key update skip locked;
  if owner.id is null then
    -- Another session is at it. To wait for it while it waits for rows of this transaction would
    -- be a deadlock.
    return false;
  end if;
  select avg(keyword.length) into truth from ragpg.chunk_keyword as keyword where keyword.namespace_id = owner.id;
  if truth is null or truth <= 0
     or max_drift > 0 and abs(truth / owner.average_length - 1) <= max_drift then
    return false;
  end if;
  update ragpg.namespace as target set average_length = truth where target.id = owner.id;
  update ragpg.chunk_keyword as stale
     set length = fresh.length, bm25 = fresh.bm25, lexemes = fresh.lexemes
    from ragpg.chunk,
         lateral ragpg.keyword_row(owner.text_search_config::regconfig, chunk.breadcrumb,
           concat_ws(E'\n', nullif(chunk.prefix, ''), chunk.content), chunk.metadata, truth) as fresh
   where stale.namespace_id = owner.id and chunk.namespace_id = owner.id and chunk.id = stale.chunk_id;
  return true;
end $$;

comment on function ragpg.rebuild_keywords(text, double precision) is
$$Recomputes the keyword rows of a namespace, about half a millisecond a chunk; false if there was
no need, or another session is at it.

  select ragpg.rebuild_keywords('handbook', max_drift => 0.25);

max_drift  only if the average chunk length has moved by more than this share; 0 always$$;
