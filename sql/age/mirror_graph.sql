-- Keeps a graph current to the statement: the rows that a statement took away and brought are taken
-- from and brought to the label tables, set by set. A graph that cannot be written is left stale
-- with a warning: tables are the truth, and an ingest must not fail for their mirror.
create or replace function ragpg.mirror_graph()
returns trigger
language plpgsql
security definer
set search_path from current
as $$
declare
  owner   integer;
  owners  integer[];
  graph   text;
  spec    record;
  fields  text;
  gone    text;
  come    text;
  pieces  bigint[];
  papers  bigint[];
begin
  if to_regtype('ag_catalog.agtype') is null then
    return null;
  end if;
  if tg_op = 'INSERT' then
    select array_agg(distinct namespace_id) into owners from new_rows;
  elsif tg_op = 'DELETE' then
    select array_agg(distinct namespace_id) into owners from old_rows;
  else
    select array_agg(distinct namespace_id) into owners
      from (select namespace_id from new_rows union select namespace_id from old_rows) as touched;
  end if;

  foreach owner in array coalesce(owners, '{}') loop
    graph := ragpg.cypher_graph_name(owner);
    continue when not ragpg.cypher_graph_is_sound(graph) or ragpg.cypher_mode(owner) <> 'transaction';
    begin
      perform '0'::ag_catalog.agtype;  -- loads the library
      -- Beside each other, but not beside a sync, which compares whole tables.
      perform pg_advisory_xact_lock_shared(hashtext('ragpg' || ' graph'), owner);
      for spec in select labels.label, labels.kind from ragpg.cypher_labels() as labels
                   where labels.relation = tg_table_name and labels.label <> 'NEXT' loop
        fields := case when spec.kind = 'v' then 'id' else 'id, start_id, end_id' end;
        gone := case when tg_op <> 'INSERT' then ragpg.cypher_rows(graph, spec.label, tg_table_name, 'old_rows') end;
        come := case when tg_op <> 'DELETE' then ragpg.cypher_rows(graph, spec.label, tg_table_name, 'new_rows') end;
        if gone is not null then
          -- An edge is found by its start, which is indexed.
          execute format('delete from %I.%I as stored using (%s) as gone where stored.id = gone.id %s',
            graph, spec.label, concat_ws(' except ', gone, come),
            case when spec.kind = 'e' then 'and stored.start_id = gone.start_id' end) using owner;
        end if;
        if come is not null then
          execute format('insert into %I.%I (%s, properties) select %3$s, come.properties::text::ag_catalog.agtype from (%4$s) as come',
            graph, spec.label, fields, concat_ws(' except ', come, gone)) using owner;
        end if;
      end loop;

      if tg_table_name = 'chunk' then
        -- NEXT joins neighbours: the documents whose pieces came, went or moved are looked at whole.
        if tg_op = 'INSERT' then
          select array_agg(id), array_agg(distinct document_id) into pieces, papers
            from new_rows where namespace_id = owner;
        elsif tg_op = 'DELETE' then
          select array_agg(id), array_agg(distinct document_id) into pieces, papers
            from old_rows where namespace_id = owner;
        else
          select array_agg(moved.id), array_agg(distinct moved.document_id) into pieces, papers
            from (select id, document_id, ordinal from old_rows where namespace_id = owner
                  except select id, document_id, ordinal from new_rows) as moved;
        end if;
        continue when pieces is null;
        come := ragpg.cypher_rows(graph, 'NEXT', null,
          '(select * from ragpg.chunk where chunk.namespace_id = $1 and chunk.document_id = any ($2))');
        execute format('delete from %I."NEXT" as stored
          where stored.start_id in (
                  select ag_catalog._graphid(%2$s, piece) from unnest($3) as piece
                  union
                  select ag_catalog._graphid(%2$s, chunk.id) from ragpg.chunk
                   where chunk.namespace_id = $1 and chunk.document_id = any ($2))
            and not exists (select from (%3$s) as come where come.id = stored.id and come.end_id = stored.end_id)',
          graph, ag_catalog._label_id(graph::name, 'Chunk'), come) using owner, papers, pieces;
        execute format('insert into %1$I."NEXT" (id, start_id, end_id, properties)
          select come.id, come.start_id, come.end_id, come.properties::text::ag_catalog.agtype from (%2$s) as come
           where not exists (select from %1$I."NEXT" as stored
                              where stored.start_id = come.start_id and stored.end_id = come.end_id)',
          graph, come) using owner, papers;
      end if;
    exception when others then
      raise warning 'the Cypher graph of namespace % is stale: %',
        (select namespace.name from ragpg.namespace where namespace.id = owner), sqlerrm
        using hint = 'ragpg graph sync repairs it.';
    end;
  end loop;
  return null;
end $$;

comment on function ragpg.mirror_graph() is
$$Trigger: copies what a statement changed in a table of the graph to the labels of ragpg.cypher_labels().

  select tgrelid::regclass, tgname from pg_trigger where tgfoid = 'ragpg.mirror_graph'::regproc;$$;

do $make$
declare
  mirrored record;
begin
  for mirrored in select distinct labels.relation from ragpg.cypher_labels() as labels loop
    execute format('
create or replace trigger mirror_insert after insert on %I.%I referencing new table as new_rows
  for each statement execute function ragpg.mirror_graph()', 'ragpg', mirrored.relation);
    execute format('
create or replace trigger mirror_update after update on %I.%I referencing old table as old_rows new table as new_rows
  for each statement execute function ragpg.mirror_graph()', 'ragpg', mirrored.relation);
    execute format('
create or replace trigger mirror_delete after delete on %I.%I referencing old table as old_rows
  for each statement execute function ragpg.mirror_graph()', 'ragpg', mirrored.relation);
  end loop;
end $make$;
