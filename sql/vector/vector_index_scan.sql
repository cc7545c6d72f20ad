-- Through the HNSW index; rows that a filter or the scan's limits kept back are fetched exactly.
-- Relaxed order is sorted outside. Filters thin out what a scan visits, so it looks wider then.
create or replace function ragpg.vector_index_scan(
  embedding vector, namespace_ids integer[], condition text, k integer, min_score double precision,
  space_id integer, type text)
returns setof ragpg.arm_hit
language plpgsql stable
set search_path from current
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.max_scan_tuples = 40000
set hnsw.ef_search = 100
-- The one plan without a sort is the index in question.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  filter text := case when condition is null then '' else format(
    'and exists (select 1 from ragpg.chunk where chunk.namespace_id = vectors.namespace_id
       and chunk.id = vectors.chunk_id and %s)', condition) end;
  found ragpg.arm_hit[];
  missing ragpg.arm_hit[];
begin
  perform set_config('hnsw.ef_search',
    least(1000, greatest(case when condition is null then 100 else 400 end, 2 * k))::text, true);
  execute format(
    'select array_agg(row(null, near.namespace_id, near.chunk_id, null, 1 - near.distance, ''hnsw'', 1)::ragpg.arm_hit)
       from (select vectors.namespace_id, vectors.chunk_id, vectors.embedding <=> $1::%1$s as distance
               from ragpg.embedding_%2$s as vectors
              where vectors.namespace_id = any ($2) %3$s
              order by vectors.embedding <=> $1::%1$s
              limit %4$s) as near', type, space_id, filter, k)
    into found using embedding, namespace_ids;
  if coalesce(cardinality(found), 0) < k then
    execute format(
      'select array_agg(row(null, near.namespace_id, near.chunk_id, null, 1 - near.distance, ''hnsw+exact'', 1)::ragpg.arm_hit)
         from (select distances.* from (
                 select vectors.namespace_id, vectors.chunk_id, vectors.embedding <=> $1::%s as distance
                   from ragpg.embedding_%s as vectors
                  where vectors.namespace_id = any ($2) %s offset 0) as distances
                order by distances.distance, distances.chunk_id
                limit %s) as near
        where not exists (select 1 from unnest($3) as hit where hit.chunk_id = near.chunk_id)',
      type, space_id, filter, k)
      into missing using embedding, namespace_ids, found;
    found := (select array_agg(best) from (
      select * from unnest(found || missing) as hit order by hit.score desc, hit.chunk_id limit k) as best);
  end if;
  return query select * from ragpg.vector_ranking(found, min_score);
end $$;

comment on function ragpg.vector_index_scan(vector, integer[], text, integer, double precision, integer, text) is
$$The index side of ragpg.vector_arm(): an iterative HNSW scan, topped up exactly when it ends short.

  select * from ragpg.vector_index_scan('[0.1,0.2]', '{1}', null, 10, null, 1, 'halfvec');

condition  SQL on chunk, from ragpg.filter_sql, or null$$;
