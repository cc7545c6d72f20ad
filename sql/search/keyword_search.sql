create or replace function ragpg.keyword_search(
  query text, namespaces text[] default '{default}', filter jsonb default null,
  k integer default 10, min_score double precision default null)
returns setof ragpg.hit
language sql stable
begin atomic
  select * from ragpg.hits(array(
    select hit from ragpg.keyword_arm(query, ragpg.namespace_ids(namespaces), filter, k, min_score) as hit));
end;

comment on function ragpg.keyword_search(text, text[], jsonb, integer, double precision) is
$$The chunks with the highest BM25 score for a query.

  select score, source, content from ragpg.keyword_search('refund policy', namespaces => '{handbook}', k => 5);

query  any text; every term counts, none is required, nothing in it is an operator$$;
