create or replace function ragpg.vector_search(
  embedding vector, namespaces text[] default '{default}', filter jsonb default null,
  k integer default 10, min_score double precision default null)
returns setof ragpg.hit
language sql stable
begin atomic
  select * from ragpg.hits(array(
    select hit from ragpg.vector_arm(embedding, ragpg.namespace_ids(namespaces), filter, k, min_score) as hit));
end;

comment on function ragpg.vector_search(vector, text[], jsonb, integer, double precision) is
$$The chunks nearest to a vector by cosine similarity: exactly min(k, matches) of them.

  select score, source, content, arms -> 'vector' ->> 'mode' as mode
    from ragpg.vector_search('[0.1,0.2]', namespaces => '{handbook}', k => 5);

min_score  cosine similarity from -1 to 1; 1 is the same direction
mode       exact, hnsw, or hnsw+exact where the index had to be topped up$$;
