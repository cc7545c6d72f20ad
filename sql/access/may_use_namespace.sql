-- Runs with the owner's rights, because it decides what others may see.
create or replace function ragpg.may_use_namespace(id integer)
returns boolean
language sql stable security definer
set search_path from current
as $$
  select (pg_catalog.pg_has_role(ragpg.caller(), schema.nspowner, 'member')
          or not exists (select 1 from ragpg.namespace_access where namespace_access.namespace_id = may_use_namespace.id)
          or exists (select 1 from ragpg.namespace_access
                       join pg_catalog.pg_roles on pg_roles.rolname = namespace_access.role_name
                      where namespace_access.namespace_id = may_use_namespace.id
                        and pg_catalog.pg_has_role(ragpg.caller(), pg_roles.oid, 'member')))
     and (nullif(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '') is null
          or exists (select 1 from ragpg.namespace
                      where namespace.id = may_use_namespace.id
                        and namespace.name = any (nullif(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '')::text[])))
    from pg_catalog.pg_namespace as schema
   where schema.oid = 'ragpg'::regnamespace
$$;

comment on function ragpg.may_use_namespace(integer) is
$$Whether the role that asks may use a namespace; see ragpg.grant_namespace().

  select name from ragpg.namespace where ragpg.may_use_namespace(id);

An application that serves all tenants through one role narrows itself, for a transaction:

  set local ragpg.allowed_namespaces = '{red}';$$;
