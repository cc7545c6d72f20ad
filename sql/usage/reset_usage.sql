create or replace function ragpg.reset_usage(namespace text default null, before date default null)
returns bigint
language sql
set search_path from current
as $$
  with gone as (
    delete from ragpg.usage
     where (before is null or usage.day < before)
       and (reset_usage.namespace is null
            or usage.namespace_id = any (ragpg.namespace_ids(array[reset_usage.namespace])))
       and usage.namespace_id in (select ragpg.usable_namespaces())
    returning 1
  )
  select count(*) from gone
$$;

comment on function ragpg.reset_usage(text, date) is
$$Forgets what models cost, of one namespace or of all that the caller may use; returns how many rows that were.

  select ragpg.reset_usage('handbook', before => '2026-01-01');$$;
