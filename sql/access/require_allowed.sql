-- Where the owner makes or drops a namespace no policy is asked, and the name need not exist yet.
create or replace function ragpg.require_allowed(namespace text)
returns void
language plpgsql stable
set search_path from current
as $$
declare
  allowed constant text := nullif(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '');
begin
  if allowed is not null and namespace <> all (allowed::text[]) then
    raise exception 'namespace "%" does not exist', namespace using errcode = 'RG001',
      hint = 'Only what ragpg.allowed_namespaces names can be used in this transaction.';
  end if;
end $$;

comment on function ragpg.require_allowed(text) is
$$Raises RG001 where the setting ragpg.allowed_namespaces leaves a name out, whether or not there is
a namespace of that name.

  select ragpg.require_allowed('handbook');$$;
