-- One graph per namespace: a Cypher query can name no other graph, whoever runs it.
create or replace function ragpg.cypher_graph_name(namespace_id integer)
returns text
language sql immutable parallel safe
begin atomic
  select 'ragpg' || '_graph_' || namespace_id;
end;

comment on function ragpg.cypher_graph_name(integer) is
$$The name of a namespace's AGE graph, for ag_catalog.cypher().

  select ragpg.cypher_graph_name((ragpg.namespace_ids('{default}'))[1]);$$;
