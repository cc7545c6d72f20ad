-- AGE writes down its graphs by oid, and a restored dump has other oids: every query that builds a
-- vertex fails then, and to ask AGE itself would end the server process of 1.5. So the schema's
-- comment keeps the oid that it was made with. DROP EXTENSION ... CASCADE takes the columns away.
create or replace function ragpg.cypher_graph_is_sound(graph text)
returns boolean
language sql stable
begin atomic
  select coalesce(
    substring(obj_description(to_regnamespace(quote_ident(graph))::oid, 'pg_namespace') from 'oid ([0-9]+)')::oid
      = to_regnamespace(quote_ident(graph))::oid, false)
    and exists (select from pg_catalog.pg_attribute
                 where attrelid = to_regclass(format('%I._ag_label_vertex', graph)) and attname = 'properties');
end;

comment on function ragpg.cypher_graph_is_sound(text) is
$$Whether AGE knows a graph that is there; false after a restore, until ragpg.sync_cypher_graph().

  select ragpg.cypher_graph_is_sound(ragpg.cypher_graph_name(1));$$;
