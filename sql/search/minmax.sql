-- Each arm's scores stretched from 0, its last hit, to 1, its first.
create or replace function ragpg.minmax(
  hits ragpg.arm_hit[], rrf_k integer default 10,
  out namespace_id integer, out chunk_id bigint, out score double precision, out arms jsonb)
returns setof record
language sql immutable parallel safe
begin atomic
  with scaled as (
    select hit.*, min(hit.score) over (partition by hit.arm) as low, max(hit.score) over (partition by hit.arm) as high
      from unnest(hits) as hit
  )
  select scaled.namespace_id, scaled.chunk_id,
         sum(scaled.weight * case when scaled.high > scaled.low then (scaled.score - scaled.low) / (scaled.high - scaled.low)
                                  else 1 end / (rrf_k::double precision + 1) order by scaled.arm collate "C"),
         jsonb_object_agg(scaled.arm, jsonb_strip_nulls(
           jsonb_build_object('rank', scaled.rank, 'score', scaled.score, 'mode', scaled.mode)))
    from scaled
   group by scaled.namespace_id, scaled.chunk_id
   order by 3 desc, count(*) desc, scaled.chunk_id;
end;

comment on function ragpg.minmax(ragpg.arm_hit[], integer) is
$$Fusion by min-max normalised scores, best first: the first hit of an arm counts its weight, the
last one nothing.

  select * from ragpg.minmax((
    select array_agg(hit) from ragpg.keyword_arm('refund', ragpg.namespace_ids('{default}'), null, 10) as hit));

rrf_k  scales the scores so that a first place counts weight / (rrf_k + 1), as in ragpg.rrf()$$;
