-- For the policies of the tables: called once a statement, not once a row.
create or replace function ragpg.usable_namespaces()
returns setof integer
language sql stable security definer
set search_path from current
rows 10
as $$
  select namespace.id from ragpg.namespace where ragpg.may_use_namespace(namespace.id)
$$;

comment on function ragpg.usable_namespaces() is
$$Ids of the namespaces that the role that asks may use.

  select * from ragpg.usable_namespaces();$$;
