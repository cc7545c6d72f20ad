-- Makes what is missing of a namespace's graph: the graph, labels, indexes. AGE 1.5 indexes nothing,
-- AGE 1.8 the keys. For the owner alone: whoever calls it has asked ragpg.check_access().
create or replace function ragpg.make_cypher_graph(namespace_id integer)
returns text
language plpgsql
security definer
set search_path from current
set client_min_messages = warning
as $$
declare
  graph  text := ragpg.cypher_graph_name(namespace_id);
  loaded ag_catalog.agtype := '0';
  spec   record;
  item   record;
begin
  -- Whoever comes second finds it made.
  perform pg_advisory_xact_lock(hashtext('ragpg' || ' graph'), namespace_id);
  if to_regnamespace(graph) is not null and not ragpg.cypher_graph_is_sound(graph) then
    perform ragpg.remove_cypher_graph(namespace_id);
  end if;
  if to_regnamespace(graph) is null then
    execute format('select ag_catalog.create_graph(%L)', graph);
    execute format('comment on schema %I is %L', graph,
      format('Mirror of a namespace of %s for Cypher, oid %s', 'ragpg', to_regnamespace(graph)::oid));
  end if;
  for spec in select distinct on (labels.label) labels.* from ragpg.cypher_labels() as labels loop
    continue when to_regclass(format('%I.%I', graph, spec.label)) is not null;
    -- The types of the arguments differ between versions: two plain constants fit all.
    execute format('select ag_catalog.%I(%L, %L)',
      case when spec.kind = 'v' then 'create_vlabel' else 'create_elabel' end, graph, spec.label);
    if spec.kind = 'v' then
      if not exists (select from pg_catalog.pg_index
                      where indrelid = format('%I.%I', graph, spec.label)::regclass and indisprimary) then
        execute format('alter table %I.%I add primary key (id)', graph, spec.label);
      end if;
    else
      for item in select unnest(array['start_id', 'end_id']) as name loop
        if not exists (select from pg_catalog.pg_index
                         join pg_catalog.pg_attribute on attrelid = indrelid and attnum = indkey[0]
                        where indrelid = format('%I.%I', graph, spec.label)::regclass and attname = item.name) then
          execute format('create index on %I.%I (%I)', graph, spec.label, item.name);
        end if;
      end loop;
    end if;
    -- For WHERE n.name = $name. Hash, because a name may be longer than a btree takes.
    for item in
      select looked_up.property from (values
        ('Document', 'source'), ('Document', 'id'), ('Chunk', 'id'), ('Entity', 'name'), ('Entity', 'key'),
        ('Entity', 'id'), ('Community', 'id')) as looked_up (label, property)
       where looked_up.label = spec.label
    loop
      execute format('create index on %I.%I using hash '
        '(ag_catalog.agtype_access_operator(variadic array[properties, %L::ag_catalog.agtype]))',
        graph, spec.label, to_json(item.property));
    end loop;
  end loop;
  return graph;
end $$;

comment on function ragpg.make_cypher_graph(integer) is
$$Makes the empty graph of a namespace, or what is missing of it; returns its name. Part of
ragpg.sync_cypher_graph().

  select ragpg.make_cypher_graph((ragpg.namespace_ids('{default}'))[1]);

The owner of ragpg needs CREATE on the database and USAGE on schema ag_catalog.$$;
