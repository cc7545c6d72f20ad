-- Few titles are asked one by one of the keyword row of each chunk, which costs less than to look up
-- what the chunk's words could be. Both ways find the same: all words of a title, then ragpg.is_named().
create or replace function ragpg.find_few_titles(namespace_id integer, chunks bigint[], entities bigint[])
returns bigint
language plpgsql
set search_path from current
-- As in ragpg.find_titles().
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set jit = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  owner integer := find_few_titles.namespace_id;
  written bigint := 0;
begin
  with phrase as materialized (
    select found.entity_id, found.query, entity.key
      from ragpg.phrase as found
     cross join lateral (select entity.key from ragpg.entity
                          where entity.namespace_id = owner and entity.id = found.entity_id offset 0) as entity
     where found.namespace_id = owner and found.entity_id = any (find_few_titles.entities)
  ), hinted as materialized (
    select keyword.chunk_id, array_agg(phrase.entity_id) as entities, array_agg(phrase.key) as keys
      from (select found.chunk_id, found.lexemes || ''::tsvector as lexemes from ragpg.chunk_keyword as found
             where found.namespace_id = owner and found.chunk_id = any (find_few_titles.chunks)
            offset 0) as keyword
      join phrase on keyword.lexemes @@ phrase.query
     group by 1
  ), named as (
    select content.id as chunk_id, one.id as entity_id, ragpg.is_named(content.folded, one.key) as is_named
      from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded
              from ragpg.chunk
             where chunk.namespace_id = owner and chunk.id = any (array(select hinted.chunk_id from hinted))
            offset 0) as content
      join hinted on hinted.chunk_id = content.id
     cross join unnest(hinted.entities, hinted.keys) as one (id, key)
     where not exists (select from ragpg.topic where topic.namespace_id = owner
                          and topic.document_id = content.document_id and topic.entity_id = one.id offset 0)
    offset 0
  ), present as materialized (
    -- As in ragpg.find_titles(): what another writer has deleted is left out.
    select entity.id from ragpg.entity
     where entity.namespace_id = owner and entity.id = any (array(select named.entity_id from named where named.is_named))
     order by entity.id for key share
  ), kept as materialized (
    select chunk.id from ragpg.chunk
     where chunk.namespace_id = owner and chunk.id = any (array(select named.chunk_id from named where named.is_named))
     order by chunk.id for key share
  )
  insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin, weight)
  select owner, named.chunk_id, named.entity_id, 'titles', 1
    from named join present on present.id = named.entity_id join kept on kept.id = named.chunk_id
   where named.is_named
   order by 2, 3
  on conflict on constraint mention_pkey do nothing;
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.find_few_titles(integer, bigint[], bigint[]) is
$$Notes which of some titles the chunks mention; part of ragpg.find_titles(). Returns how many mentions
are new.

  select ragpg.find_few_titles(1, '{17}', '{4}');

entities  what the titles stand for$$;
