create or replace function ragpg.drop_cypher_graph(namespace text)
returns boolean
language plpgsql
security definer
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
begin
  perform ragpg.check_access(array[owner]);
  return ragpg.remove_cypher_graph(owner);
end $$;

comment on function ragpg.drop_cypher_graph(text) is
$$Drops the Cypher graph of a namespace, whose tables stay; false if there is none.

  select ragpg.drop_cypher_graph('default');

ragpg.sync_cypher_graph() makes it again.$$;
