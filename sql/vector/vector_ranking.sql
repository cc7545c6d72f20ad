-- Ranks what an arm found: threshold first, then 1, 2, 3 by score and id.
create or replace function ragpg.vector_ranking(hits ragpg.arm_hit[], min_score double precision default null)
returns setof ragpg.arm_hit
language sql immutable parallel safe
begin atomic
  select 'vector'::text, hit.namespace_id, hit.chunk_id,
         (row_number() over (order by hit.score desc, hit.chunk_id))::integer, hit.score, hit.mode, hit.weight
    from unnest(hits) as hit
   where min_score is null or hit.score >= min_score
   order by hit.score desc, hit.chunk_id;
end;

comment on function ragpg.vector_ranking(ragpg.arm_hit[], double precision) is
$$Rows of the vector arm with their ranks, best first; used by ragpg.vector_arm().

  select * from ragpg.vector_ranking('{}');$$;
