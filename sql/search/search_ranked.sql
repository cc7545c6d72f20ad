-- Arms, then fusion, then the k best as ids.
create or replace function ragpg.search_ranked(
  query text, embedding vector, namespaces text[], filter jsonb, k integer, arms jsonb,
  rrf_k integer, budget_ms integer,
  out ranking ragpg.arm_hit[], out places jsonb[], out report jsonb)
language plpgsql stable
set search_path from current
as $$
declare
  found record;
begin
  if (k >= 0 and rrf_k >= 0 and budget_ms >= 0) is not true then
    raise exception 'k, rrf_k and budget_ms cannot be negative or null: %, %, %', k, rrf_k, budget_ms using errcode = 'RG005';
  end if;
  select * into found from ragpg.search_arms(
    query, embedding, ragpg.namespace_ids(namespaces), filter,
    -- The pool does not depend on k, except that it can never be smaller.
    ragpg.widen_arms(arms, k), budget_ms);
  report := found.report;
  select array_agg(row('fused', best.namespace_id, best.chunk_id, best.place, best.score, null, 1)::ragpg.arm_hit order by best.place),
         array_agg(best.arms order by best.place)
    into ranking, places
    from (select fused.namespace_id, fused.chunk_id, fused.score, fused.arms, fused.place::integer
            from ragpg.rrf(found.hits, rrf_k) with ordinality as fused (namespace_id, chunk_id, score, arms, place)
           where fused.place <= k) as best;
end $$;

comment on function ragpg.search_ranked(text, vector, text[], jsonb, integer, jsonb, integer, integer) is
$$The fused ranking as ids, every arm's view of each place, and the report; used by ragpg.search().

  select report from ragpg.search_ranked('refund', null, '{default}', null, 10, null, 60, 5000);$$;
