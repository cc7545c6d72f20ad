-- Names to ids, in one place. An unknown name is an error, not an empty result.
create or replace function ragpg.namespace_ids(names text[])
returns integer[]
language plpgsql stable parallel safe
as $$
declare
  -- Row-level security is off inside functions with the owner's rights: there it is asked once more,
  -- where anything is closed at all.
  limited constant boolean := exists (select 1 from ragpg.namespace_access)
    or coalesce(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '') <> '';
  unknown text;
begin
  if names is null or array_position(names, null) is not null then
    raise exception 'a namespace is null' using errcode = 'RG005',
      hint = 'Name the namespaces, as in {default}; list them with: select name from ragpg.namespaces';
  end if;
  select asked.name into unknown
    from unnest(names) as asked (name)
   where not exists (select 1 from ragpg.namespace
                      where namespace.name = asked.name
                        and (not limited or ragpg.may_use_namespace(namespace.id)))
   order by asked.name collate "C"
   limit 1;
  if unknown is not null then
    raise exception 'namespace "%" does not exist', unknown using errcode = 'RG001',
      hint = 'List them with: select name from ragpg.namespaces';
  end if;
  return (select coalesce(array_agg(namespace.id order by namespace.id), '{}')
            from ragpg.namespace where namespace.name = any (names));
end $$;

comment on function ragpg.namespace_ids(text[]) is
$$Ids of namespaces by name; raises RG001 for an unknown one.

  select ragpg.namespace_ids('{default,handbook}');$$;
