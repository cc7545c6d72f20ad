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
  hinted_chunks bigint[];
  hinted_entities bigint[];
  hinted_keys text[];
begin
  with phrase as materialized (
    select found.entity_id, found.query, entity.key
      from ragpg.phrase as found
     cross join lateral (select entity.key from ragpg.entity
                          where entity.namespace_id = owner and entity.id = found.entity_id offset 0) as entity
     where found.namespace_id = owner and found.entity_id = any (find_few_titles.entities)
  )
  select array_agg(keyword.chunk_id), array_agg(phrase.entity_id), array_agg(phrase.key)
    into hinted_chunks, hinted_entities, hinted_keys
    from (select found.chunk_id, found.lexemes || ''::tsvector as lexemes from ragpg.chunk_keyword as found
           where found.namespace_id = owner and found.chunk_id = any (find_few_titles.chunks)
          offset 0) as keyword
    join phrase on keyword.lexemes @@ phrase.query;
  return ragpg.check_titles(owner, hinted_chunks, hinted_entities, hinted_keys);
end $$;

comment on function ragpg.find_few_titles(integer, bigint[], bigint[]) is
$$Notes which of some titles the chunks mention; part of ragpg.find_titles(). Returns how many mentions
are new.

  select ragpg.find_few_titles(1, '{17}', '{4}');

entities  what the titles stand for$$;
