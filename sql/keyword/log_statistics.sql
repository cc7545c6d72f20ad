-- One log row for up to 2,000 chunks or 500,000 words of a statement and namespace: cheap, writers
-- never wait for each other, and no statement makes a value too large to hold.
create or replace function ragpg.log_statistics()
returns trigger
language plpgsql
set search_path from current
as $$
begin
  if tg_op = 'UPDATE' then
    -- A row whose words are what they were changes no count; a changed average length rewrites all.
    insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)
    select part.namespace_id, part.sign, count(*), sum(part.length), array_agg(part.lexemes)
      from (select changed.*, row_number() over kept / 2000 + (sum(changed.length) over kept)::bigint / 500000 as part
              from (select entry.namespace_id, entry.length, entry.lexemes, sum(entry.sign)::smallint as sign
                      from (select removed.namespace_id, removed.chunk_id, removed.length, removed.lexemes, -1 as sign
                              from removed
                             union all
                            select added.namespace_id, added.chunk_id, added.length, added.lexemes, 1 as sign
                              from added) as entry
                     group by entry.namespace_id, entry.chunk_id, entry.length, entry.lexemes
                    having sum(entry.sign) <> 0) as changed
            window kept as (partition by changed.namespace_id, changed.sign rows unbounded preceding)) as part
     group by part.namespace_id, part.sign, part.part
     order by part.namespace_id, part.sign, part.part;
  elsif tg_op = 'DELETE' then
    insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)
    select part.namespace_id, -1, count(*), sum(part.length), array_agg(part.lexemes)
      from (select removed.*, row_number() over kept / 2000 + (sum(removed.length) over kept)::bigint / 500000 as part
              from removed window kept as (partition by removed.namespace_id rows unbounded preceding)) as part
     group by part.namespace_id, part.part
     order by part.namespace_id, part.part;
  else
    insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)
    select part.namespace_id, 1, count(*), sum(part.length), array_agg(part.lexemes)
      from (select added.*, row_number() over kept / 2000 + (sum(added.length) over kept)::bigint / 500000 as part
              from added window kept as (partition by added.namespace_id rows unbounded preceding)) as part
     group by part.namespace_id, part.part
     order by part.namespace_id, part.part;
  end if;
  return null;
end $$;

comment on function ragpg.log_statistics() is
$$Trigger on ragpg.chunk_keyword: notes what changed for ragpg.fold_statistics().$$;

create or replace trigger log_statistics_insert after insert on ragpg.chunk_keyword
  referencing new table as added for each statement execute function ragpg.log_statistics();
create or replace trigger log_statistics_update after update on ragpg.chunk_keyword
  referencing old table as removed new table as added
  for each statement execute function ragpg.log_statistics();
create or replace trigger log_statistics_delete after delete on ragpg.chunk_keyword
  referencing old table as removed for each statement execute function ragpg.log_statistics();
