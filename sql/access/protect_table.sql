-- One policy for reading and writing. The owner, and with it the arms of a search, pass it by.
create or replace function ragpg.protect_table(place regclass)
returns void
language plpgsql
set search_path from current
set client_min_messages = warning
as $$
begin
  perform ragpg.refuse_nulls(pg_catalog.jsonb_build_object('place', protect_table.place));
  execute pg_catalog.format('alter table %s enable row level security', place);
  execute pg_catalog.format('drop policy if exists namespace_access on %s', place);
  execute pg_catalog.format(
    case when place = 'ragpg.namespace'::pg_catalog.regclass
      -- A namespace that is being made is in nobody's snapshot yet: row by row.
      then 'create policy namespace_access on %s using (ragpg.may_use_namespace(id))'
      else 'create policy namespace_access on %s using (namespace_id = any (array(select ragpg.usable_namespaces())))'
    end, place);
end $$;

comment on function ragpg.protect_table(regclass) is
$$Puts a table with a namespace_id under row-level security; used when tables are made.

  select ragpg.protect_table('ragpg.chunk');$$;
