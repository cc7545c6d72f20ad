create or replace function ragpg.graph_search(
  seeds bigint[], namespaces text[] default '{default}', filter jsonb default null, k integer default 10,
  query text default null, hops integer default 1)
returns setof ragpg.hit
language sql stable
begin atomic
  select * from ragpg.hits(array(
    select row(hit.arm, hit.namespace_id, hit.chunk_id, row_number() over (order by hit.rank)::integer, hit.score, hit.mode, hit.weight)::ragpg.arm_hit
      from ragpg.graph_arm(seeds, ragpg.namespace_ids(namespaces), filter, k, query, hops) as hit));
end;

comment on function ragpg.graph_search(bigint[], text[], jsonb, integer, text, integer) is
$$Chunks around some chunks in the graph: of documents that they name or link to, or that name or
link to them, and so on; arms -> graph -> mode says why.

  select source, content, arms -> 'graph' ->> 'mode' as why from ragpg.graph_search(
    array(select chunk_id from ragpg.keyword_search('refund', k => 3)), query => 'refund');

seeds  chunk ids, most important first
query  entities that it names are starts too
hops   1 or 2$$;
