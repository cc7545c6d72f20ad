-- For functions with the owner's rights: inside them the table itself asks nobody.
create or replace function ragpg.require_right(place regclass, wanted text)
returns void
language plpgsql stable
set search_path from current
as $$
begin
  if not pg_catalog.has_table_privilege(ragpg.caller(), place, wanted) then
    raise exception 'permission denied for table %', (select relname from pg_catalog.pg_class where oid = place)
      using errcode = '42501', hint = pg_catalog.format('Its owner may: grant %s on %s to %I;', wanted, place, ragpg.caller());
  end if;
end $$;

comment on function ragpg.require_right(regclass, text) is
$$Raises 42501 where the role that asks has no such right on a table.

  select ragpg.require_right('ragpg.namespace', 'select');$$;
