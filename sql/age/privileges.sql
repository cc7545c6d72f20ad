-- Readers ask through ragpg.cypher(); what fills and drops graphs is for writers; what makes them and
-- trusts its caller is for the owner, with whose rights the others and the triggers run.
do $$
declare
  made record;
begin
  for made in
    select entry.signature, entry.for_writers from (values
      ('ragpg.make_cypher_graph(integer)', false), ('ragpg.remove_cypher_graph(integer)', false),
      ('ragpg.drop_cypher_graphs()', false), ('ragpg.drop_cypher_graph(text)', true),
      ('ragpg.sync_cypher_graph(text)', true), ('ragpg.cypher_status()', true)) as entry (signature, for_writers)
  loop
    execute format('revoke execute on function %s from public', made.signature);
    if exists (select from pg_catalog.pg_roles where rolname = 'ragpg_reader') then
      execute format('revoke execute on function %s from ragpg_reader', made.signature);
    end if;
    if exists (select from pg_catalog.pg_roles where rolname = 'ragpg_writer') then
      execute format('%s execute on function %s %s ragpg_writer',
        case when made.for_writers then 'grant' else 'revoke' end, made.signature,
        case when made.for_writers then 'to' else 'from' end);
    end if;
  end loop;
end $$;
