-- Every candidate compared. Given ids are looked up in one ordered pass over the key's index,
-- which reads a quarter of the pages that a join would.
create or replace function ragpg.vector_exact(
  embedding vector, namespace_ids integer[], ids bigint[], condition text, k integer, space_id integer, type text,
  how text default 'exact')
returns ragpg.arm_hit[]
language plpgsql stable
set search_path from current
as $$
declare
  hits ragpg.arm_hit[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('k', vector_exact.k, 'space_id', vector_exact.space_id, 'type', vector_exact.type, 'how', vector_exact.how));
  -- "offset 0" keeps the order by away from the vector index.
  execute format(
    'select array_agg(row(null, best.namespace_id, best.chunk_id, null, 1 - best.distance, %6$L, 1)::ragpg.arm_hit)
       from (select candidate.* from (
               select vectors.namespace_id, vectors.chunk_id, vectors.embedding <=> $1::%1$s as distance
                 from ragpg.embedding_%2$s as vectors
                where vectors.namespace_id = any ($2) %3$s %4$s offset 0) as candidate
              order by candidate.distance, candidate.chunk_id
              limit %5$s) as best',
    type, space_id,
    case when ids is null then '' else 'and vectors.chunk_id = any ($3)' end,
    case when condition is null then '' else format(
      'and exists (select 1 from ragpg.chunk where chunk.namespace_id = vectors.namespace_id
         and chunk.id = vectors.chunk_id and %s)', condition) end,
    k, how)
    into hits using embedding, namespace_ids, ids;
  return coalesce(hits, '{}');
end $$;

comment on function ragpg.vector_exact(vector, integer[], bigint[], text, integer, integer, text, text) is
$$The exact side of ragpg.vector_arm(): the k nearest, by comparing every candidate.

  select * from unnest(ragpg.vector_exact('[0.1,0.2]', '{1}', null, null, 10, 1, 'halfvec'));

ids        only these chunks, or null
condition  SQL on chunk, from ragpg.filter_sql, or null
how        the mode to report$$;
