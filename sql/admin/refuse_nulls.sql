-- In functions with the owner's rights too, so every call names its schema.
create or replace function ragpg.refuse_nulls(arguments jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  missing text;
begin
  select given.key into missing from pg_catalog.jsonb_each(arguments) as given
   where given.value = 'null' order by given.key collate "C" limit 1;
  if missing is not null then
    raise exception '% cannot be null', missing using errcode = 'RG005',
      hint = 'Leave it out where it has a default, or give a value.';
  end if;
end $$;

comment on function ragpg.refuse_nulls(jsonb) is
$$Raises RG005 for the first argument, by name, that is null.

  select ragpg.refuse_nulls('{"k": 10}');$$;
