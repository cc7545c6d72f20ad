-- Arms, then fusion, then the k best as ids.
create or replace function ragpg.search_ranked(
  query text, embedding vector, namespaces text[], filter jsonb, k integer, arms jsonb,
  rrf_k integer, budget_ms integer, fusion jsonb default null, probes jsonb default null,
  out ranking ragpg.arm_hit[], out places jsonb[], out report jsonb)
language plpgsql stable
set search_path from current
as $$
declare
  found record;
  ids integer[];
  options jsonb;
  since timestamptz;
begin
  if (k >= 0 and rrf_k >= 0 and budget_ms >= 0) is not true then
    raise exception 'k, rrf_k and budget_ms cannot be negative or null: %, %, %', k, rrf_k, budget_ms using errcode = 'RG005';
  end if;
  ids := ragpg.namespace_ids(namespaces);
  options := ragpg.fusion_options(fusion, ids);
  select * into found from ragpg.search_arms(
    query, embedding, ids, filter,
    -- The pool does not depend on k, except that it can never be smaller.
    ragpg.widen_arms(arms, k), budget_ms, probes);
  since := clock_timestamp();
  select array_agg(row('fused', best.namespace_id, best.chunk_id, best.place, best.score, null, 1)::ragpg.arm_hit order by best.place),
         array_agg(best.arms order by best.place)
    into ranking, places
    from (select fused.namespace_id, fused.chunk_id, fused.score, fused.arms, fused.place::integer
            from ragpg.rrf(found.hits, coalesce((options ->> 'rrf_k')::integer, rrf_k)) with ordinality as fused (namespace_id, chunk_id, score, arms, place)
           where fused.place <= k) as best;
  report := found.report || jsonb_build_object('fusion', jsonb_build_object(
    'method', options ->> 'method',
    'weights', (select coalesce(jsonb_object_agg(hit.arm, hit.weight), '{}')
                  from (select distinct found_hit.arm, found_hit.weight from unnest(found.hits) as found_hit) as hit),
    'signals', '{}'::jsonb,
    'ms', round(extract(epoch from clock_timestamp() - since) * 1000, 3)));
end $$;

comment on function ragpg.search_ranked(text, vector, text[], jsonb, integer, jsonb, integer, integer, jsonb, jsonb) is
$$The fused ranking as ids, every arm's view of each place, and the report; used by ragpg.search().

  select report from ragpg.search_ranked('refund', null, '{default}', null, 10, null, 60, 5000);$$;
