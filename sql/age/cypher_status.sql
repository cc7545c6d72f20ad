create or replace function ragpg.cypher_status()
returns table (namespace text, mode text, graph text, label text, rows bigint, wanted bigint)
language plpgsql stable
security definer
set search_path from current
as $$
declare
  place record;
  spec  record;
begin
  for place in select namespace.id, namespace.name from ragpg.namespace
                where ragpg.may_use_namespace(namespace.id) order by namespace.name loop
    namespace := place.name;
    mode := ragpg.cypher_mode(place.id);
    graph := ragpg.cypher_graph_name(place.id);
    if not ragpg.cypher_graph_is_sound(graph) then
      -- There is none, or one that a restore has broken.
      graph := null; label := null; rows := null; wanted := null;
      return next;
      continue;
    end if;
    for spec in select distinct labels.label from ragpg.cypher_labels() as labels order by 1 loop
      label := spec.label;
      rows := null;
      if to_regclass(format('%I.%I', graph, label)) is not null then
        execute format('select count(*) from %I.%I', graph, label) into rows;
      end if;
      execute (select 'select count(*) from (' || string_agg(
                        format(labels.rows, format('%I.%I', 'ragpg', labels.relation)), ' union all ') || ') as wanted'
                 from ragpg.cypher_labels() as labels where labels.label = cypher_status.label)
        into wanted using place.id;
      return next;
    end loop;
  end loop;
end $$;

comment on function ragpg.cypher_status() is
$$Every namespace with its Cypher graph (null without one) and, label by label, the rows that are
there and the rows that should be.

  select * from ragpg.cypher_status();$$;
