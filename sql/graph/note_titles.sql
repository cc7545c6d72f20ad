-- Chunks before entities, as those who delete documents take them. Called by functions that lead its
-- plans to the indexes.
create or replace function ragpg.note_titles(namespace_id integer, chunks bigint[], entities bigint[])
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := note_titles.namespace_id;
  written bigint;
begin
  with kept as materialized (
    -- Another writer may be deleting them: whoever is gone after the wait is left out.
    select chunk.id from ragpg.chunk
     where chunk.namespace_id = owner and chunk.id = any (note_titles.chunks)
     order by chunk.id for key share
  ), present as materialized (
    select entity.id from ragpg.entity
     where entity.namespace_id = owner and entity.id = any (note_titles.entities) and exists (select from kept)
     order by entity.id for key share
  )
  insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin, weight)
  select owner, named.chunk_id, named.entity_id, 'titles', 1
    from unnest(note_titles.chunks, note_titles.entities) as named (chunk_id, entity_id)
    join kept on kept.id = named.chunk_id
    join present on present.id = named.entity_id
   order by 2, 3
  on conflict on constraint mention_pkey do nothing;
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.note_titles(integer, bigint[], bigint[]) is
$$Stores that chunks mention the titles that entities stand for, side by side; part of
ragpg.find_titles() and ragpg.find_mentions(). Returns how many mentions are new.

  select ragpg.note_titles(1, '{17,17}', '{4,5}');$$;
