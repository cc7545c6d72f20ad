-- One arm, by name: "keyword:facet" is the keyword arm run for the probe facet. Arms return ids;
-- what they cost is bounded by their own k.
create or replace function ragpg.run_arm(
  arm text, query text, embedding vector, namespace_ids integer[], filter jsonb,
  k integer, min_score double precision, weight double precision, function regproc, seeds bigint[],
  hops integer default 1)
returns ragpg.arm_hit[]
language plpgsql stable
set search_path from current
as $$
declare
  hits ragpg.arm_hit[];
  kind constant text := case when function is null then split_part(arm, ':', 1) end;
begin
  if kind = 'vector' then
    hits := array(select hit from ragpg.vector_arm(embedding, namespace_ids, filter, k, min_score) as hit);
  elsif kind = 'keyword' then
    hits := array(select hit from ragpg.keyword_arm(query, namespace_ids, filter, k, min_score) as hit);
  elsif kind = 'metadata' then
    hits := array(select hit from ragpg.metadata_arm(namespace_ids, filter, k) as hit);
  elsif kind = 'prf' then
    hits := array(select hit from ragpg.prf_arm(query, namespace_ids, filter, k, seeds) as hit
                   where min_score is null or hit.score >= min_score);
  elsif kind = 'sentence' then
    hits := array(select hit from ragpg.sentence_arm(embedding, namespace_ids, seeds, k) as hit
                   where min_score is null or hit.score >= min_score);
  elsif kind = 'graph' then
    hits := array(select hit from ragpg.graph_arm(seeds, namespace_ids, filter, k, query, hops => run_arm.hops, with_seeds => true) as hit
                   where min_score is null or hit.score >= min_score);
  elsif function is null then
    raise exception 'the function of arm "%" does not exist, or there are several of its name', arm
      using errcode = 'RG005', hint = 'Name it with its schema, as in {"function": "app.recent"}.';
  else
    -- A foreign arm may know nothing of filters: what it brings is checked here.
    execute format(
      'select array_agg(row(%L, chunk.namespace_id, chunk.id, passed.rank, passed.score, null, 1)::ragpg.arm_hit order by passed.rank)
         from (select chunk.id, chunk.namespace_id, (row_number() over (order by given.place))::integer as rank, given.score
                 from (select found.chunk_id, found.score, found.place, row_number() over (partition by found.chunk_id order by found.place) as copy
                         from (select raw.chunk_id, raw.score, row_number() over () as place
                                 from %s($1, $2, $3, $4) as raw) as found) as given
                 join ragpg.chunk on chunk.namespace_id = any ($2) and chunk.id = given.chunk_id
                where given.copy = 1 and ($5 is null or given.score >= $5) and %s) as passed
         join ragpg.chunk using (namespace_id, id)
        where passed.rank <= $4', arm, function, ragpg.filter_sql(filter))
      into hits using query, namespace_ids, filter, k, min_score;
  end if;
  return array(select row(run_arm.arm, hit.namespace_id, hit.chunk_id, hit.rank, hit.score, hit.mode, run_arm.weight)::ragpg.arm_hit
                 from unnest(hits) as hit);
end $$;

comment on function ragpg.run_arm(text, text, vector, integer[], jsonb, integer, double precision, double precision, regproc, bigint[], integer) is
$$Runs one arm of ragpg.search() and returns its ranking.

  select * from unnest(ragpg.run_arm('keyword', 'refund', null, ragpg.namespace_ids('{default}'), null, 10, null, 1, null, null));

seeds  chunk ids that the arms prf, graph and sentence start from, best first
hops   how far the arm graph goes, 1 or 2$$;
