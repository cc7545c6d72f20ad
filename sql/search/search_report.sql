create or replace function ragpg.search_report(
  query text, embedding vector default null, namespaces text[] default '{default}', filter jsonb default null,
  k integer default 10, arms jsonb default null, rrf_k integer default 10, budget_ms integer default 5000,
  fusion jsonb default null, probes jsonb default null)
returns table (arm text, rows integer, ms numeric, weight double precision, mode text, skipped text, error text)
language sql stable
begin atomic
  select entry.key, (entry.value ->> 'rows')::integer, (entry.value ->> 'ms')::numeric,
         (found.report -> 'fusion' -> 'weights' ->> entry.key)::double precision,
         entry.value ->> 'mode', entry.value ->> 'skipped', entry.value ->> 'error'
    from ragpg.search_ranked(query, embedding, namespaces, filter, k, arms, rrf_k, budget_ms, fusion, probes) as found,
         jsonb_each(found.report) as entry
   where entry.key <> 'fusion'
   order by entry.key collate "C";
end;

comment on function ragpg.search_report(text, vector, text[], jsonb, integer, jsonb, integer, integer, jsonb, jsonb) is
$$What each arm of a search did: rows, milliseconds, its weight in the fusion, and why it was skipped
or failed.

  select * from ragpg.search_report('how long do refunds take?', namespaces => '{handbook}');

Arguments are those of ragpg.search().$$;
