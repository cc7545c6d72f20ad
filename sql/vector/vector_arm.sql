-- Exactly min(k, matches) rows under any filter. A plain filtered "order by distance limit k" is
-- wrong: the planner walks the index down to rare filters and comes back with a handful. So:
--
--   few rows can match                  they are compared one by one, and nothing is missed
--   many of the nearest rows pass       those are the answer
--   few of them pass, and not too many  one by one again: what is far away an index finds badly
--   else                                the index is scanned on until there are enough
--
-- Should that end short, all are compared.
create or replace function ragpg.vector_arm(
  embedding vector, namespace_ids integer[], filter jsonb, k integer,
  min_score double precision default null, exact_rows integer default 10000)
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
as $$
declare
  space ragpg.embedding_space;
  condition text;
  chunks bigint;     -- of these namespaces
  vectors bigint;    -- of the whole space, as of the last analyze
  indexed boolean;
  ids bigint[];      -- of the chunks that pass the filter
  ef integer := 600;
  needed integer;
  hits ragpg.arm_hit[] := '{}';
begin
  perform ragpg.check_access(namespace_ids);
  if k is null then
    raise exception 'k cannot be null' using errcode = 'RG005', hint = 'Leave it out, or give a whole number.';
  end if;
  if k <= 0 or embedding is null or cardinality(namespace_ids) = 0 then
    return;
  end if;
  space := ragpg.query_space(embedding, namespace_ids);
  if space.id is null then
    return;
  end if;
  -- Half precision takes neither very long vectors nor very short ones; the direction is what counts.
  embedding := l2_normalize(embedding);
  if filter <> '{}' then
    condition := ragpg.filter_sql(filter);
  end if;
  select coalesce(sum(namespace_statistics.chunks), 0) into chunks
    from ragpg.namespace_statistics where namespace_statistics.namespace_id = any (namespace_ids);

  select pg_class.reltuples, bool_or(index_method.amname = 'hnsw' and pg_index.indisvalid) into vectors, indexed
    from pg_catalog.pg_class
    join pg_catalog.pg_index on pg_index.indrelid = pg_class.oid
    join pg_catalog.pg_class as index_class on index_class.oid = pg_index.indexrelid
    join pg_catalog.pg_am as index_method on index_method.oid = index_class.relam
   where pg_class.oid = ('ragpg.embedding_' || space.id)::regclass
   group by pg_class.oid;

  if not indexed or condition is null and chunks <= exact_rows then
    return query select * from ragpg.vector_ranking(
      ragpg.vector_exact(embedding, namespace_ids, null, condition, k, space.id, space.type), min_score);
    return;
  elsif condition is not null then
    ids := ragpg.vector_candidates(namespace_ids, condition, exact_rows / 10);
  end if;

  if ids is null then
    -- A search that has the space to itself finds enough with less.
    if condition is null and 2 * chunks >= vectors then
      ef := 250;
    end if;
    ef := least(1000, greatest(ef, 2 * k));
    needed := greatest(k, ef / 20);
    if needed <= ef then
      hits := ragpg.vector_index_scan(embedding, namespace_ids, condition, needed, space.id, space.type, ef, false);
    end if;
    if cardinality(hits) < needed then
      hits := '{}';
      if condition is not null then
        ids := ragpg.vector_candidates(namespace_ids, condition, 2 * exact_rows);
      end if;
      if ids is null and (condition is not null or chunks > 2 * exact_rows) then
        hits := ragpg.vector_index_scan(embedding, namespace_ids, condition, k, space.id, space.type, ef, true);
      end if;
    end if;
  end if;
  if cardinality(hits) < k then
    hits := ragpg.vector_exact(embedding, namespace_ids, ids, case when ids is null then condition end,
      k, space.id, space.type, case when cardinality(hits) > 0 then 'hnsw+exact' else 'exact' end);
  end if;
  return query select * from ragpg.vector_ranking(hits, min_score) as ranked where ranked.rank <= k;
end $$;

comment on function ragpg.vector_arm(vector, integer[], jsonb, integer, double precision, integer) is
$$The ranking by cosine similarity, best first: ids and scores only; ragpg.vector_search() has the text.

  select * from ragpg.vector_arm('[0.1,0.2]', ragpg.namespace_ids('{default}'), null, 10);

min_score   cosine similarity, 1 is the same direction
exact_rows  up to so many rows of a namespace every one is compared; of filtered rows a tenth at
            once, and twice as many where few of the nearest pass$$;
