-- Every table with a namespace_id, and every view with the rights of who reads it.
do $$
declare
  found record;
begin
  for found in
    select pg_class.oid::regclass as place, pg_class.relkind as kind
      from pg_catalog.pg_class
     where pg_class.relnamespace = 'ragpg'::regnamespace
       and (pg_class.relkind = 'v'
            or pg_class.relkind in ('r', 'p')
               and (pg_class.oid = 'ragpg.namespace'::regclass
                    or exists (select 1 from pg_catalog.pg_attribute
                                where pg_attribute.attrelid = pg_class.oid
                                  and pg_attribute.attname = 'namespace_id' and not pg_attribute.attisdropped)))
  loop
    if found.kind = 'v' then
      execute format('alter view %s set (security_invoker = true)', found.place);
    else
      perform ragpg.protect_table(found.place);
    end if;
  end loop;
end $$;
