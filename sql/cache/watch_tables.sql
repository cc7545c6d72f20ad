-- Every table with a namespace_id, but for those that no search reads.
do $$
declare
  found record;
begin
  for found in
    select pg_class.oid::regclass as place
      from pg_catalog.pg_class
     where pg_class.relnamespace = 'ragpg'::regnamespace and pg_class.relkind in ('r', 'p')
       and pg_class.relname <> all ('{job,keyword_log,namespace_write,usage}')
       and (pg_class.oid = 'ragpg.namespace'::regclass
            or exists (select 1 from pg_catalog.pg_attribute
                        where pg_attribute.attrelid = pg_class.oid
                          and pg_attribute.attname = 'namespace_id' and not pg_attribute.attisdropped))
  loop
    perform ragpg.watch_writes(found.place);
  end loop;
end $$;
