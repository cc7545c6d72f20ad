-- One SELECT for what a label holds, in the types of its table but for the properties, which are
-- jsonb because agtype has no cast from it in AGE 1.5.
create or replace function ragpg.cypher_rows(graph text, label text, relation text default null, rows_of text default null)
returns text
language plpgsql stable
set search_path from current
as $$
begin
  return (
    select string_agg(
             case when spec.kind = 'v' then
               format('select ag_catalog._graphid(%s, item.id) as id, item.properties from (%s) as item',
                 ag_catalog._label_id(graph::name, spec.label::name),
                 format(spec.rows, coalesce(rows_of, format('%I.%I', 'ragpg', spec.relation))))
             else
               format('select ag_catalog._graphid(%s, item.id) as id, ag_catalog._graphid(%s, item.source) as start_id, '
                      'ag_catalog._graphid(%s, item.target) as end_id, item.properties from (%s) as item',
                 ag_catalog._label_id(graph::name, spec.label::name),
                 ag_catalog._label_id(graph::name, spec.source_label::name),
                 ag_catalog._label_id(graph::name, spec.target_label::name),
                 format(spec.rows, coalesce(rows_of, format('%I.%I', 'ragpg', spec.relation))))
             end, ' union all ' order by spec.relation)
      from ragpg.cypher_labels() as spec
     where spec.label = cypher_rows.label
       and spec.relation = coalesce(cypher_rows.relation, spec.relation));
end $$;

comment on function ragpg.cypher_rows(text, text, text, text) is
$$The query for the rows of a label in a graph; $1 in it is the namespace.

  select ragpg.cypher_rows(ragpg.cypher_graph_name(1), 'Document');

relation  only what comes from this table, by default from all that fill the label
rows_of   a table to read instead$$;
