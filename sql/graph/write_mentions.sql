-- Keeps mentions of titles equal to the texts, a statement at a time, after the keyword rows: the
-- names of triggers decide their order. Foreign keys delete the mentions of deleted chunks.
create or replace function ragpg.write_mentions()
returns trigger
language plpgsql
set search_path from current
as $$
declare
  part record;
begin
  if tg_op = 'INSERT' then
    for part in select added.namespace_id, array_agg(added.id order by added.id) as chunks from added group by 1 order by 1 loop
      perform ragpg.find_titles(part.namespace_id, chunks => part.chunks);
    end loop;
  else
    for part in
      select latest.namespace_id, array_agg(latest.id order by latest.id) as chunks
        from changed as latest join replaced as former using (namespace_id, id)
       where latest.content <> former.content
       group by 1 order by 1
    loop
      delete from ragpg.mention
       where mention.namespace_id = part.namespace_id and mention.chunk_id = any (part.chunks);
      delete from ragpg.relation
       where relation.namespace_id = part.namespace_id and relation.chunk_id = any (part.chunks);
      perform ragpg.find_titles(part.namespace_id, chunks => part.chunks);
    end loop;
  end if;
  return null;
end $$;

comment on function ragpg.write_mentions() is
$$Trigger on ragpg.chunk: notes the titles that new and changed chunks mention.$$;

create or replace trigger write_mentions_insert after insert on ragpg.chunk
  referencing new table as added for each statement execute function ragpg.write_mentions();
create or replace trigger write_mentions_update after update on ragpg.chunk
  referencing old table as replaced new table as changed
  for each statement execute function ragpg.write_mentions();
