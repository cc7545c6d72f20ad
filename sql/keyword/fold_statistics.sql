-- Merges the log into the statistics. Every log row is counted once: it is deleted in the same
-- transaction. One folder at a time; the others find nothing to do and go on. A namespace that is
-- being dropped is not waited for, because its dropper would wait for us: its log goes with it.
create or replace function ragpg.fold_statistics(max_chunks integer default 50000)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  folded bigint;
  held integer[];
  owners integer[];
  words text[];
begin
  if not pg_try_advisory_xact_lock(hashtext('ragpg.fold_statistics')) then
    return -1;
  end if;
  select array_agg(present.id) into held
    from (select namespace.id from ragpg.namespace
           where namespace.id in (select keyword_log.namespace_id from ragpg.keyword_log)
           order by namespace.id for key share skip locked) as present;
  with gone as (
    delete from ragpg.keyword_log
     where keyword_log.id in (
             select waiting.id
               from (select entry.id, sum(entry.chunks) over (order by entry.id) - entry.chunks as before
                       from ragpg.keyword_log as entry
                      where entry.namespace_id = any (held)
                         or not exists (select 1 from ragpg.namespace where namespace.id = entry.namespace_id)) as waiting
              where waiting.before < fold_statistics.max_chunks)
    returning keyword_log.*
  ), alive as (
    -- The namespace may have been dropped since: its rows are only cleared away.
    select gone.* from gone join ragpg.namespace on namespace.id = gone.namespace_id
  ), totals as (
    insert into ragpg.namespace_statistics as kept (namespace_id, chunks, length)
    select alive.namespace_id, sum(alive.sign * alive.chunks), sum(alive.sign * alive.length)
      from alive
     group by 1
     order by 1
    on conflict (namespace_id) do update
       set chunks = kept.chunks + excluded.chunks, length = kept.length + excluded.length
    returning 1
  ), delta as (
    select alive.namespace_id, word.lexeme, sum(alive.sign)::bigint as documents
      from alive, unnest(alive.lexemes) as row (lexemes), unnest(tsvector_to_array(row.lexemes)) as word (lexeme)
     where word.lexeme not like '@%' and word.lexeme not like '^%'
     group by 1, 2
    having sum(alive.sign) <> 0
  ), counted as (
    insert into ragpg.lexeme_statistics as kept (namespace_id, lexeme, documents)
    select delta.namespace_id, delta.lexeme, delta.documents
      from delta
     order by 1, 2
    on conflict (namespace_id, lexeme) do update
       set documents = kept.documents + excluded.documents
    returning kept.namespace_id, kept.lexeme, kept.documents
  )
  select (select count(*) from gone), array_agg(counted.namespace_id), array_agg(counted.lexeme)
    into folded, owners, words
    from counted where counted.documents = 0;
  -- Words of deleted texts are not kept.
  delete from ragpg.lexeme_statistics as kept
   using unnest(owners, words) as unused (namespace_id, lexeme)
   where (kept.namespace_id, kept.lexeme) = (unused.namespace_id, unused.lexeme);
  return folded;
end $$;

comment on function ragpg.fold_statistics(integer) is
$$Brings the BM25 statistics up to date; returns how many log rows were merged, -1 when another
session is at it.

  select ragpg.fold_statistics();

Ingestion calls it. Call it yourself after writing to ragpg.chunk with your own SQL; until then
new terms are found but weighted as rare.

max_chunks  stop after so many chunks; call again until it returns 0$$;
