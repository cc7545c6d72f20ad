-- One log row a statement and namespace: cheap, and writers never wait for each other.
create or replace function ragpg.log_statistics()
returns trigger
language plpgsql
set search_path from current
as $$
begin
  if tg_op in ('DELETE', 'UPDATE') then
    insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)
    select removed.namespace_id, -1, count(*), sum(removed.length), array_agg(removed.lexemes)
      from removed
     group by removed.namespace_id
     order by removed.namespace_id;
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)
    select added.namespace_id, 1, count(*), sum(added.length), array_agg(added.lexemes)
      from added
     group by added.namespace_id
     order by added.namespace_id;
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
