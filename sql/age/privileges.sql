-- Whoever may ask goes through ragpg.cypher(); what makes, fills and drops graphs is for writers, and
-- follows what they write without a right of their own on AGE.
do $$
declare
  made text;
begin
  foreach made in array array[
    'ragpg.create_cypher_graph(integer)', 'ragpg.drop_cypher_graph(integer)', 'ragpg.drop_cypher_graphs()',
    'ragpg.sync_cypher_graph(text)', 'ragpg.cypher_status()'] loop
    execute format('revoke execute on function %s from public', made);
    if exists (select from pg_catalog.pg_roles where rolname = 'ragpg_reader') then
      execute format('revoke execute on function %s from ragpg_reader', made);
    end if;
    if exists (select from pg_catalog.pg_roles where rolname = 'ragpg_writer') then
      execute format('grant execute on function %s to ragpg_writer', made);
    end if;
  end loop;
end $$;
