create or replace function ragpg.search(
  query text, embedding vector default null, namespaces text[] default '{default}', filter jsonb default null,
  k integer default 10, arms jsonb default null, rrf_k integer default 10, budget_ms integer default 5000,
  fusion jsonb default null, probes jsonb default null)
returns setof ragpg.hit
language plpgsql stable
set search_path from current
as $$
declare
  found record;
  failed record;
begin
  select * into found from ragpg.search_ranked(query, embedding, namespaces, filter, k, arms, rrf_k, budget_ms, fusion, probes);
  for failed in select entry.key, entry.value ->> 'error' as error from jsonb_each(found.report) as entry
                 where entry.value ? 'error' loop
    raise warning 'the % arm failed: %', failed.key, failed.error;
  end loop;
  return query select * from ragpg.hits(found.ranking, found.places);
end $$;

comment on function ragpg.search(text, vector, text[], jsonb, integer, jsonb, integer, integer, jsonb, jsonb) is
$$The chunks that answer a query, best first: vector, keyword, metadata and graph search, fused.

  select rank, score, source, start_line, content
    from ragpg.search('how long do refunds take?', namespaces => '{handbook}', k => 5);

query       any text; nothing in it is an operator
embedding   the query's vector, from the model the namespace was embedded with; without it the
            vector arm is skipped
namespaces  all of them are searched; an unknown one is an error
filter      metadata conditions for every arm, as in {"year": {"gte": 2023}}; see ragpg.filter_sql
k           at most so many rows
arms        {"vector": {"weight": 2, "k": 100, "min_score": 0.3}, "graph": false}, or ["keyword"];
            see ragpg.arm_options
rrf_k       the constant of reciprocal rank fusion
budget_ms   no further arm starts after so many milliseconds
fusion      {"method": "adaptive"}, see ragpg.fusion_options; null is the namespace's setting
probes      further queries that join the fusion, see ragpg.probe_options

Column arms holds each arm's rank and own score: cosine similarity, BM25, time, link weight. An arm
that fails is a warning here; ragpg.search_report() has it as JSON.$$;
