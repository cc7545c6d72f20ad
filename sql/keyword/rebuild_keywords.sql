-- Keyword rows carry the average length as a constant; this makes it true again, and the
-- statistics with it. Writers of the namespace are kept out meanwhile: a row of theirs would hold
-- the old average, and a row of ours a text that they have changed.
create or replace function ragpg.rebuild_keywords(namespace text, max_drift double precision default 0)
returns boolean
language plpgsql
set search_path from current
as $$
declare
  owner ragpg.namespace;
  truth double precision;
  former double precision;
  unclear bigint[];
  place constant integer := hashtext('ragpg.rebuild_keywords');
begin
  perform ragpg.namespace_ids(array[rebuild_keywords.namespace]);
  select target.* into owner from ragpg.namespace as target where target.name = rebuild_keywords.namespace;
  if owner.average_length is null then
    return false;
  end if;
  if max_drift > 0 then
    -- Counted in the statistics and what is not folded yet: a large namespace need not be read.
    select sum(part.length) / nullif(sum(part.chunks), 0) into truth
      from (select kept.length, kept.chunks from ragpg.namespace_statistics as kept where kept.namespace_id = owner.id
             union all
            select entry.sign * entry.length, entry.sign * entry.chunks
              from ragpg.keyword_log as entry where entry.namespace_id = owner.id) as part;
    if truth is null or truth <= 0 or abs(truth / owner.average_length - 1) <= max_drift then
      return false;
    end if;
  end if;
  -- Another session is at it, or is dropping the namespace: to wait for it while it waits for rows
  -- of this transaction would be a deadlock. For writers only the explicit call waits.
  select target.* into owner from ragpg.namespace as target
   where target.id = owner.id for no key update skip locked;
  if owner.id is null then
    return false;
  elsif max_drift = 0 then
    perform pg_advisory_xact_lock(place, owner.id);
  elsif not pg_try_advisory_xact_lock(place, owner.id) then
    return false;
  end if;
  select avg(keyword.length) into truth from ragpg.chunk_keyword as keyword where keyword.namespace_id = owner.id;
  if truth is null or truth <= 0 then
    return false;
  end if;
  former := owner.average_length;
  update ragpg.namespace as target set average_length = truth where target.id = owner.id
  returning target.average_length into truth;
  if max_drift > 0 then
    -- Only the average has changed: rows are told from themselves. The rest is told from the text.
    with fresh as materialized (
      select stale.chunk_id, rescaled.bm25, rescaled.lexemes
        from ragpg.chunk_keyword as stale,
             lateral ragpg.rescaled_row(stale.length, stale.bm25, stale.lexemes, former, truth) as rescaled
       where stale.namespace_id = owner.id
    ), rescaled as (
      update ragpg.chunk_keyword as stale
         set bm25 = fresh.bm25, lexemes = fresh.lexemes
        from fresh
       where stale.namespace_id = owner.id and stale.chunk_id = fresh.chunk_id and fresh.bm25 is not null
    )
    select array_agg(fresh.chunk_id) into unclear from fresh where fresh.bm25 is null;
    if unclear is null then
      return true;
    end if;
  end if;
  update ragpg.chunk_keyword as stale
     set length = fresh.length, bm25 = fresh.bm25, lexemes = fresh.lexemes
    from ragpg.chunk,
         lateral ragpg.keyword_row(owner.text_search_config::regconfig, chunk.breadcrumb,
           concat_ws(E'\n', nullif(chunk.prefix, ''), chunk.content), chunk.metadata, truth) as fresh
   where stale.namespace_id = owner.id and chunk.namespace_id = owner.id and chunk.id = stale.chunk_id
     and (unclear is null or stale.chunk_id = any (unclear));
  return true;
end $$;

comment on function ragpg.rebuild_keywords(text, double precision) is
$$Makes the keyword rows of a namespace true to its average length; false if there was no need, or
another session is at it.

  select ragpg.rebuild_keywords('handbook', max_drift => 0.25);

Writers of the namespace wait until its transaction has ended; searches do not.

max_drift  only if the average chunk length has moved by more than this share, and only if nobody
           is writing to the namespace, a tenth of a millisecond a chunk; 0 always, after waiting for
           the writers and from the texts, about a millisecond a chunk$$;
