create or replace function ragpg.drop_cypher_graphs()
returns integer
language plpgsql
set search_path from current
as $$
begin
  return (select count(*) from ragpg.namespace where ragpg.remove_cypher_graph(namespace.id));
end $$;

comment on function ragpg.drop_cypher_graphs() is
$$Drops the graphs of all namespaces; returns how many there were.

  select ragpg.drop_cypher_graphs();$$;
