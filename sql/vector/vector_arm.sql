-- Exactly min(k, matches) rows under any filter. A plain filtered "order by distance limit k" is
-- wrong: the planner walks the index down to rare filters and comes back with a handful. So the
-- rows that can match are counted first, up to a bound: few are compared one by one (recall 1),
-- many go through the index, and what it fails to bring is fetched exactly.
create or replace function ragpg.vector_arm(
  embedding vector, namespace_ids integer[], filter jsonb, k integer,
  min_score double precision default null, exact_rows integer default 10000)
returns setof ragpg.arm_hit
language plpgsql stable
set search_path from current
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.max_scan_tuples = 40000
set hnsw.ef_search = 100
as $$
declare
  spaces integer[];
  space ragpg.embedding_space;
  place text;
  condition text;
  filtered boolean := filter is not null and filter <> '{}';
  candidates bigint;
  total bigint;
  ids bigint[];
  owners integer[];
  found integer;
  how text := 'hnsw';
  statement text;
begin
  if k <= 0 or embedding is null or cardinality(namespace_ids) = 0 then
    return;
  elsif vector_norm(embedding) = 0 then
    raise exception 'the query vector is all zeros' using errcode = 'RG002',
      hint = 'Cosine similarity is undefined for it; leave the vector out to search by keyword.';
  end if;
  select array_agg(distinct namespace.space_id) filter (where namespace.space_id is not null) into spaces
    from ragpg.namespace where namespace.id = any (namespace_ids);
  if spaces is null then
    return;
  elsif cardinality(spaces) > 1 then
    raise exception 'these namespaces use % different embedding spaces', cardinality(spaces)
      using errcode = 'RG002', hint = 'Search them one by one: a vector of one model means nothing to another.';
  end if;
  select embedding_space.* into space from ragpg.embedding_space where embedding_space.id = spaces[1];
  if vector_dims(embedding) <> space.dimensions then
    raise exception 'the query vector has % dimensions, model "%" of this namespace has %',
      vector_dims(embedding), space.model, space.dimensions using errcode = 'RG002',
      hint = 'Embed the query with the model that the namespace was ingested with.';
  end if;
  place := format('ragpg.embedding_%s', space.id);
  condition := ragpg.filter_sql(filter);
  select coalesce(sum(namespace_statistics.chunks), 0) into total
    from ragpg.namespace_statistics where namespace_statistics.namespace_id = any (namespace_ids);

  if filtered then
    -- A bounded probe: if few rows match, their ids are the plan.
    execute format(
      'select array_agg(matching.id), array_agg(matching.namespace_id), count(*)
         from (select chunk.id, chunk.namespace_id from ragpg.chunk
                where chunk.namespace_id = any ($1) and %s limit %s) as matching', condition, exact_rows + 1)
      into ids, owners, candidates using namespace_ids;
  else
    candidates := total;
  end if;

  if filtered and candidates <= exact_rows then
    return query execute format(
      'with candidate as materialized (
         select vectors.namespace_id, vectors.chunk_id, vectors.embedding
           from unnest($2, $3) as matching (namespace_id, chunk_id)
           join %s as vectors using (namespace_id, chunk_id))
       select * from ragpg.vector_ranking(array(
         select row(null, candidate.namespace_id, candidate.chunk_id, null,
                    1 - (candidate.embedding <=> $1::%s), ''exact'', 1)::ragpg.arm_hit
           from candidate order by candidate.embedding <=> $1::%2$s, candidate.chunk_id limit %s), %L)',
      place, space.type, k, min_score)
      using embedding, owners, ids;
    return;
  elsif not filtered and (candidates <= exact_rows or not ragpg.has_embedding_index(space.id))
        or filtered and not ragpg.has_embedding_index(space.id) then
    return query execute format(
      'with candidate as materialized (
         select vectors.namespace_id, vectors.chunk_id, vectors.embedding <=> $1::%2$s as distance
           from %1$s as vectors
          where vectors.namespace_id = any ($2) %3$s)
       select * from ragpg.vector_ranking(array(
         select row(null, candidate.namespace_id, candidate.chunk_id, null,
                    1 - candidate.distance, ''exact'', 1)::ragpg.arm_hit
           from candidate order by candidate.distance, candidate.chunk_id limit %4$s), %5$L)',
      place, space.type,
      case when filtered then format('and exists (select 1 from ragpg.chunk
        where chunk.namespace_id = vectors.namespace_id and chunk.id = vectors.chunk_id and %s)', condition) else '' end,
      k, min_score)
      using embedding, namespace_ids;
    return;
  end if;
  return query select * from ragpg.vector_index_scan(embedding, namespace_ids, case when filtered then condition end,
    k, min_score, space.id, space.type);
end $$;

comment on function ragpg.vector_arm(vector, integer[], jsonb, integer, double precision, integer) is
$$The ranking by cosine similarity, best first: ids and scores only; ragpg.vector_search() has the text.

  select * from ragpg.vector_arm('[0.1,0.2]', ragpg.namespace_ids('{default}'), null, 10);

min_score   cosine similarity, 1 is the same direction
exact_rows  up to so many candidate rows every one is compared$$;
