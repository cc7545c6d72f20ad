-- Brings a graph to its tables by whole tables: two statements a label, which change only what
-- differs. Writers of the namespace wait meanwhile.
create or replace function ragpg.sync_cypher_graph(namespace text)
returns table (label text, added bigint, removed bigint, total bigint)
language plpgsql
security definer
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
  graph text;
  spec  record;
  wanted text;
begin
  perform ragpg.check_access(array[owner]);
  if ragpg.cypher_mode(owner) = 'off' then
    raise exception 'Cypher is off for namespace "%"', namespace
      using errcode = 'RG005', hint = format('Turn it on: select ragpg.set_cypher_mode(%L, ''transaction'');', namespace);
  end if;
  graph := ragpg.make_cypher_graph(owner);
  for spec in select distinct labels.label, labels.kind from ragpg.cypher_labels() as labels order by 2 desc, 1 loop
    wanted := ragpg.cypher_rows(graph, spec.label);
    execute format('delete from %I.%I as stored
      where not exists (select from (%s) as wanted
             where wanted.id = stored.id %s and wanted.properties::text::ag_catalog.agtype = stored.properties)',
      graph, spec.label, wanted,
      case when spec.kind = 'e' then 'and wanted.start_id = stored.start_id and wanted.end_id = stored.end_id' end)
      using owner;
    get diagnostics removed = row_count;
    execute format('insert into %1$I.%2$I (%3$s, properties)
      select %3$s, wanted.properties::text::ag_catalog.agtype from (%4$s) as wanted
       where not exists (select from %1$I.%2$I as stored where stored.id = wanted.id)',
      graph, spec.label, case when spec.kind = 'v' then 'id' else 'id, start_id, end_id' end, wanted)
      using owner;
    get diagnostics added = row_count;
    execute format('select count(*) from %I.%I', graph, spec.label) into total;
    label := spec.label;
    return next;
  end loop;
end $$;

comment on function ragpg.sync_cypher_graph(text) is
$$Brings the Cypher graph of a namespace to what its tables hold, and makes it where there is none.

  select * from ragpg.sync_cypher_graph('default');

Returns what each label gained and lost. Needed once for a namespace that is older than extension
age in this database, after a restore and in mode manual; see ragpg.set_cypher_mode().$$;
