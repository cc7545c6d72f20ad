create or replace function ragpg.graph_search(
  seeds bigint[], namespaces text[] default '{default}', filter jsonb default null, k integer default 10)
returns setof ragpg.hit
language sql stable
begin atomic
  select * from ragpg.hits(array(
    select hit from ragpg.graph_arm(seeds, ragpg.namespace_ids(namespaces), filter, k) as hit));
end;

comment on function ragpg.graph_search(bigint[], text[], jsonb, integer) is
$$Chunks of the documents that link to, or are linked from, the documents of some chunks.

  select source, content from ragpg.graph_search(
    array(select chunk_id from ragpg.keyword_search('refund', k => 3)));

seeds  chunk ids, most important first$$;
