create or replace function ragpg.grant_namespace(namespace text, role name)
returns void
language plpgsql
set search_path from current
as $$
begin
  if not exists (select 1 from pg_catalog.pg_roles where pg_roles.rolname = role) then
    raise exception 'role "%" does not exist', role using errcode = 'RG005', hint = 'Create it first.';
  end if;
  insert into ragpg.namespace_access (namespace_id, role_name)
  select found.id, grant_namespace.role from unnest(ragpg.namespace_ids(array[namespace])) as found (id)
  on conflict do nothing;
end $$;

comment on function ragpg.grant_namespace(text, name) is
$$Closes a namespace to all but the roles it is granted to; the first grant closes it.

  select ragpg.grant_namespace('handbook', current_user);

Others do not see that it exists. The owner of the schema sees every namespace. A role needs the
rights of ragpg_reader or ragpg_writer besides.$$;
