-- After the last down revision. Extensions stay, and so does a schema that holds anything else.
drop table if exists ragpg.alembic_version;
do $ragpg$
begin
  -- A role that could not create it again was given it: it stays, empty.
  if has_database_privilege(current_database(), 'create') then
    drop schema ragpg;
  end if;
exception
  when dependent_objects_still_exist or insufficient_privilege then
    raise notice 'schema % stays: it holds other objects, or belongs to another role', 'ragpg';
end
$ragpg$;
