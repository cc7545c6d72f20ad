create or replace function ragpg.search_run(
  query text, embedding vector default null, namespaces text[] default '{default}', filter jsonb default null,
  k integer default 10, arms jsonb default null, rrf_k integer default 10, budget_ms integer default 5000,
  fusion jsonb default null, probes jsonb default null,
  out hits jsonb, out report jsonb)
language plpgsql stable
set search_path from current
as $$
declare
  found record;
begin
  select * into found from ragpg.search_ranked(query, embedding, namespaces, filter, k, arms, rrf_k, budget_ms, fusion, probes);
  report := found.report;
  select coalesce(jsonb_agg(to_jsonb(hit) order by hit.rank), '[]') into hits
    from ragpg.hits(found.ranking, found.places) as hit;
end $$;

comment on function ragpg.search_run(text, vector, text[], jsonb, integer, jsonb, integer, integer, jsonb, jsonb) is
$$ragpg.search() with its report, as JSON in one row: what client libraries call.

  select report from ragpg.search_run('refund', k => 5);

Arguments are those of ragpg.search(). hits is a list of objects with the columns of ragpg.hit.$$;
