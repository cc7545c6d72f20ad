-- Few titles are looked up one by one, for many every chunk is read once. A chunk that comes meanwhile
-- has looked for the titles itself.
create or replace function ragpg.find_waiting(namespace_id integer)
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := find_waiting.namespace_id;
  waiting bigint[] := array(select phrase.entity_id from ragpg.phrase
                             where phrase.namespace_id = owner and phrase.waits order by 1);
  chunks bigint[];
  written bigint := 0;
begin
  if cardinality(waiting) <= 50 then
    written := ragpg.find_mentions(owner, waiting, at_most => null);
  else
    chunks := array(select chunk.id from ragpg.chunk where chunk.namespace_id = owner order by chunk.id limit 500);
    while cardinality(chunks) > 0 loop
      written := written + ragpg.find_titles(owner, chunks, waiting => true);
      chunks := array(select chunk.id from ragpg.chunk
                       where chunk.namespace_id = owner and chunk.id > chunks[cardinality(chunks)]
                       order by chunk.id limit 500);
    end loop;
  end if;
  update ragpg.phrase set waits = false
   where phrase.namespace_id = owner and phrase.waits and phrase.entity_id = any (waiting);
  return written;
end $$;

comment on function ragpg.find_waiting(integer) is
$$Looks for the titles that wait in the chunks that were there before them; returns how many mentions
are new.

  select ragpg.find_waiting(1);

Titles of very common words wait, and very many titles at one time. The analysis calls it.$$;
