-- Drops what the files of sql/ created. An object of somebody else that uses one stops it.
do $ragpg$
declare
  todo      text[];
  failed    text[];
  statement text;
  reason    text;
  users     text;
begin
  -- The graphs for Cypher are schemas beside ours.
  if to_regprocedure('ragpg.drop_cypher_graphs()') is not null
     and exists (select from pg_catalog.pg_extension where extname = 'age') then
    perform ragpg.drop_cypher_graphs();
  end if;
  for statement in
    select format('drop schema %I cascade', nspname)
      from pg_catalog.pg_namespace
     where nspname ~ ('^' || 'ragpg' || '_graph_[0-9]+$')
       and obj_description(oid, 'pg_namespace') like 'Mirror of a namespace%'
       and not exists (select from pg_catalog.pg_extension where extname = 'age')
  loop
    execute statement;
  end loop;
  select array_agg(made.statement) into todo
    from (select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement
            from pg_catalog.pg_trigger
            join pg_catalog.pg_class on pg_class.oid = tgrelid
           where relnamespace = 'ragpg'::regnamespace and not tgisinternal
             and tgname = any ({triggers}::text[])
          union all
          select format('drop policy %I on %s', polname, polrelid::regclass)
            from pg_catalog.pg_policy
            join pg_catalog.pg_class on pg_class.oid = polrelid
           where relnamespace = 'ragpg'::regnamespace and polname = 'namespace_access'
          union all
          select format('drop view %s', oid::regclass)
            from pg_catalog.pg_class
           where relnamespace = 'ragpg'::regnamespace and relkind = 'v'
             and relname = any ({views}::text[])
          union all
          select format('drop routine %s', oid::regprocedure)
            from pg_catalog.pg_proc
           where pronamespace = 'ragpg'::regnamespace
             and proname = any ({routines}::text[])) as made;
  -- Views and functions use each other in any order: go on while anything falls.
  while cardinality(todo) > 0 loop
    failed := '{}';
    foreach statement in array todo loop
      begin
        execute statement;
      exception
        when dependent_objects_still_exist then
          failed := failed || statement;
          get stacked diagnostics reason = message_text, users = pg_exception_detail;
      end;
    end loop;
    if cardinality(failed) = cardinality(todo) then
      raise exception '%', reason
        using errcode = '2BP01', detail = users, hint = 'Drop the object that uses it first.';
    end if;
    todo := failed;
  end loop;
  if to_regclass('ragpg.install') is not null then
    delete from ragpg.install;
  end if;
end
$ragpg$;
