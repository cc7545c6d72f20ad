-- The last grant cannot go this way: that would open the namespace to everybody.
create or replace function ragpg.revoke_namespace(namespace text, role name, open boolean default false)
returns boolean
language plpgsql
set search_path from current
as $$
declare
  id integer;
  found boolean;
begin
  select ids.id into id from unnest(ragpg.namespace_ids(array[namespace])) as ids (id);
  delete from ragpg.namespace_access
   where namespace_access.namespace_id = id and namespace_access.role_name = role
  returning true into found;
  if found and not open
     and not exists (select 1 from ragpg.namespace_access where namespace_access.namespace_id = id) then
    raise exception 'role "%" is the last one that may use namespace "%"', role, namespace using errcode = 'RG005',
      hint = 'Without it every role may: grant another role first, or say open => true.';
  end if;
  return coalesce(found, false);
end $$;

comment on function ragpg.revoke_namespace(text, name, boolean) is
$$Takes a grant of ragpg.grant_namespace() back; false where there was none.

  select ragpg.revoke_namespace('handbook', 'tenant_red');

open  allow that no grant is left, which opens the namespace to every role$$;
