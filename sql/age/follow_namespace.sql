-- A new namespace gets its graph while it is empty, so that its first ingest is in it. Above a
-- hundred graphs only those that are asked for are made: each is some fifty tables and indexes.
create or replace function ragpg.follow_namespace()
returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
  if to_regtype('ag_catalog.agtype') is null then
    return null;
  end if;
  if tg_op = 'DELETE' then
    perform ragpg.remove_cypher_graph(old.id);
  elsif ragpg.cypher_mode(new.id) = 'transaction' then
    begin
      if (select count(*) from pg_catalog.pg_namespace
           where nspname like replace('ragpg' || '_graph_', '_', '\_') || '%') < 100 then
        perform ragpg.make_cypher_graph(new.id);
      end if;
    exception when others then
      raise warning 'namespace % has no Cypher graph: %', new.name, sqlerrm
        using hint = 'ragpg graph sync makes it once the cause is gone.';
    end;
  end if;
  return null;
end $$;

comment on function ragpg.follow_namespace() is
$$Trigger: makes and drops the Cypher graph of a namespace with the namespace.

  select tgrelid::regclass, tgname from pg_trigger where tgfoid = 'ragpg.follow_namespace'::regproc;$$;

create or replace trigger follow_namespace after insert or delete on ragpg.namespace
  for each row execute function ragpg.follow_namespace();
