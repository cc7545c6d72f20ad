-- Keyword and vector scores as shares from 0 to 1, the other arms by rank. A share of 1 counts as
-- much as a first place, so the weights of all arms mean the same.
create or replace function ragpg.convex(
  hits ragpg.arm_hit[], shares ragpg.arm_hit[], keyword double precision, vector double precision,
  rrf_k integer default 10,
  out namespace_id integer, out chunk_id bigint, out score double precision)
returns setof record
language sql immutable parallel safe
begin atomic
  with credit as (
    select share.namespace_id, share.chunk_id, share.arm, false as listed,
           case share.arm when 'keyword' then convex.keyword else convex.vector end * share.score
           / (rrf_k::double precision + 1) as score
      from unnest(shares) as share
     union all
    select hit.namespace_id, hit.chunk_id, hit.arm, true,
           case when hit.arm in ('keyword', 'vector') then 0 else ragpg.rrf_score(hit.rank, hit.weight, rrf_k) end
      from unnest(hits) as hit
  )
  select credit.namespace_id, credit.chunk_id, sum(credit.score order by credit.arm collate "C")
    from credit
   group by credit.namespace_id, credit.chunk_id
   order by 3 desc, count(*) filter (where credit.listed) desc, credit.chunk_id;
end;

comment on function ragpg.convex(ragpg.arm_hit[], ragpg.arm_hit[], double precision, double precision, integer) is
$$The arms' rankings as one: weighted shares of the keyword and vector arms, and reciprocal ranks of
the others.

  select * from ragpg.convex('{}', '{}', 1.2, 0.8);

shares   see ragpg.fusion_evidence
keyword  weight of that arm; vector likewise$$;
