create or replace function ragpg.metadata_search(
  filter jsonb, namespaces text[] default '{default}', k integer default 10)
returns setof ragpg.hit
language sql stable
begin atomic
  select * from ragpg.hits(array(
    select hit from ragpg.metadata_arm(ragpg.namespace_ids(namespaces), filter, k) as hit));
end;

comment on function ragpg.metadata_search(jsonb, text[], integer) is
$$The newest chunks whose metadata pass a filter.

  select source, metadata from ragpg.metadata_search('{"year": {"gte": 2023}}', k => 5);

filter  see ragpg.filter_sql$$;
