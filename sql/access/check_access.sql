-- The arms of a search run with the owner's rights, because row-level security would keep their
-- indexes from being used (their operators are not leakproof). So each asks here first.
create or replace function ragpg.check_access(namespace_ids integer[])
returns void
language plpgsql stable security definer
set search_path from current
as $$
declare
  refused integer;
begin
  if not exists (select 1 from ragpg.namespace_access)
     and coalesce(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '') = '' then
    return;
  end if;
  select asked.id into refused from pg_catalog.unnest(namespace_ids) as asked (id)
   -- What is closed and what is not there look alike.
   where not ragpg.may_use_namespace(asked.id)
      or not exists (select from ragpg.namespace where namespace.id = asked.id) limit 1;
  if refused is not null then
    raise exception 'namespace % does not exist', refused using errcode = 'RG001',
      hint = 'List them with: select name from ragpg.namespaces';
  end if;
end $$;

comment on function ragpg.check_access(integer[]) is
$$Raises RG001 where the role that asks may not use a namespace.

  select ragpg.check_access(ragpg.namespace_ids('{default}'));$$;
