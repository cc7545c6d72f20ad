-- Every chunk once, with its rank and score in each arm. An arm that did not find it adds nothing.
-- Sums run in the order of the arms' names and ties end at the id: equal input, equal output.
create or replace function ragpg.rrf(
  hits ragpg.arm_hit[], rrf_k integer default 10,
  out namespace_id integer, out chunk_id bigint, out score double precision, out arms jsonb)
returns setof record
language sql immutable parallel safe
begin atomic
  select hit.namespace_id, hit.chunk_id,
         sum(ragpg.rrf_score(hit.rank, hit.weight, rrf_k) order by hit.arm collate "C"),
         jsonb_object_agg(hit.arm, jsonb_strip_nulls(
           jsonb_build_object('rank', hit.rank, 'score', hit.score, 'mode', hit.mode)))
    from unnest(hits) as hit
   group by hit.namespace_id, hit.chunk_id
   order by 3 desc, count(*) desc, hit.chunk_id;
end;

comment on function ragpg.rrf(ragpg.arm_hit[], integer) is
$$Weighted reciprocal rank fusion of the arms' rankings, best first.

  select * from ragpg.rrf((
    select array_agg(hit) from ragpg.keyword_arm('refund', ragpg.namespace_ids('{default}'), null, 10) as hit));

rrf_k  larger flattens the difference between ranks: 10 was the best of those measured, the paper
       has 60$$;
