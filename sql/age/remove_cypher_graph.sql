-- For the owner alone: whoever calls it with the owner's rights has asked ragpg.check_access().
create or replace function ragpg.remove_cypher_graph(namespace_id integer)
returns boolean
language plpgsql
security definer
set search_path from current
set client_min_messages = warning
as $$
declare
  graph  text := ragpg.cypher_graph_name(namespace_id);
  loaded ag_catalog.agtype := '0';
begin
  perform pg_advisory_xact_lock(hashtext('ragpg' || ' graph'), namespace_id);
  if to_regnamespace(graph) is null then
    return false;
  end if;
  begin
    execute format('select ag_catalog.drop_graph(%L, true)', graph);
  exception
    when invalid_schema_name or undefined_table or undefined_column or undefined_object or invalid_parameter_value then
      -- The extension went and came back: AGE knows nothing of the graph that it left.
      execute format('drop schema %I cascade', graph);
  end;
  return true;
end $$;

comment on function ragpg.remove_cypher_graph(integer) is
$$Drops the graph of a namespace by id; part of ragpg.drop_cypher_graph().

  select ragpg.remove_cypher_graph((ragpg.namespace_ids('{default}'))[1]);$$;
