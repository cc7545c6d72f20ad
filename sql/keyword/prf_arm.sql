-- Pseudo-relevance feedback: what the texts of the best keyword hits have in common.
create or replace function ragpg.prf_arm(
  query text, namespace_ids integer[], filter jsonb, k integer, seeds bigint[])
returns setof ragpg.arm_hit
language sql stable parallel safe
begin atomic
  select null::ragpg.arm_hit where false;
end;

comment on function ragpg.prf_arm(text, integer[], jsonb, integer, bigint[]) is
$$Chunks that share the words which the seeds have in common: ids and scores.

  select * from ragpg.prf_arm('refund', ragpg.namespace_ids('{default}'), null, 10, '{17,4}');

seeds  chunk ids of the best keyword hits, best first$$;
