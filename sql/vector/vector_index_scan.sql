-- Through the HNSW index. With `deep` false only the ef nearest of the whole space are looked at
-- and those that pass are returned: cheap, in true order, and none too many where few pass.
-- With `deep` true the scan goes on until it has enough; its order is relaxed, so it takes twice
-- what is wanted and sorts outside.
create or replace function ragpg.vector_index_scan(
  embedding vector, namespace_ids integer[], condition text, k integer, space_id integer, type text,
  ef_search integer, deep boolean)
returns ragpg.arm_hit[]
language plpgsql stable
set search_path from current
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.max_scan_tuples = 40000
set hnsw.ef_search = 250
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  hits ragpg.arm_hit[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('k', vector_index_scan.k, 'space_id', vector_index_scan.space_id, 'type', vector_index_scan.type, 'ef_search', vector_index_scan.ef_search, 'deep', vector_index_scan.deep));
  perform set_config('hnsw.ef_search', ef_search::text, true);
  execute format(
    'select array_agg(row(null, passed.namespace_id, passed.chunk_id, null, 1 - passed.distance, ''hnsw'', 1)::ragpg.arm_hit)
       from (select near.* from (
               select vectors.namespace_id, vectors.chunk_id, vectors.embedding <=> $1::%1$s as distance
                 from ragpg.embedding_%2$s as vectors
                order by vectors.embedding <=> $1::%1$s %3$s) as near
              where near.namespace_id = any ($2) %4$s
              limit %5$s) as passed',
    type, space_id,
    case when deep then '' else 'limit ' || ef_search end,
    case when condition is null then '' else format(
      'and exists (select 1 from ragpg.chunk where chunk.namespace_id = near.namespace_id
         and chunk.id = near.chunk_id and %s)', condition) end,
    case when deep then greatest(2 * k, 40) else k end)
    into hits using embedding, namespace_ids;
  return coalesce(hits, '{}');
end $$;

comment on function ragpg.vector_index_scan(vector, integer[], text, integer, integer, text, integer, boolean) is
$$The index side of ragpg.vector_arm(): at least k of the nearest, if the scan meets as many.

  select * from unnest(ragpg.vector_index_scan('[0.1,0.2]', '{1}', null, 10, 1, 'halfvec', 250, false));

condition  SQL on chunk, from ragpg.filter_sql, or null
ef_search  how many candidates the scan keeps in view; pgvector allows 1000
deep       go on beyond them until there are enough$$;
