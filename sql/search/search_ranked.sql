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
  fused record;
  options jsonb;
  signals jsonb := '{}';
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
  -- Scores of a function that stands in for a built-in arm are of a kind that nobody knows.
  if jsonb_typeof(arms) = 'object' and (arms #> '{keyword,function}' is not null or arms #> '{vector,function}' is not null)
     and options ->> 'method' <> 'minmax' then
    options := options || '{"method": "rrf"}';
  end if;
  select * into fused from ragpg.fuse(found.hits, options, query, embedding, ids, k, rrf_k);
  ranking := fused.ranking;
  places := fused.places;
  report := found.report || jsonb_build_object('fusion', fused.report);
  begin
    signals := ragpg.confidence_signals(
      found.hits, query, embedding, ids, (fused.report #>> '{signals,background}')::double precision);
  exception when others then
    -- A search is not lost for want of a word on how good it is.
    report := jsonb_set(report, '{fusion,confidence_error}', to_jsonb(sqlerrm));
  end;
  select coalesce(jsonb_object_agg(arm.key, arm.value || case when signals ? arm.key
                    then jsonb_build_object('signals', signals -> arm.key) else '{}' end), '{}')
    into report from jsonb_each(report) as arm;
end $$;

comment on function ragpg.search_ranked(text, vector, text[], jsonb, integer, jsonb, integer, integer, jsonb, jsonb) is
$$The fused ranking as ids, every arm's view of each place, and the report; used by ragpg.search().

  select report from ragpg.search_ranked('refund', null, '{default}', null, 10, null, 60, 5000);$$;
