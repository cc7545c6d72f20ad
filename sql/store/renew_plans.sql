-- A session keeps its plans until someone analyses a table. What was planned for a table of three rows
-- reads whole namespaces of one of a hundred thousand, also in the checks of foreign keys, and a first
-- load is over before autovacuum has come. So plans go whenever the tables have doubled.
create or replace function ragpg.renew_plans()
returns boolean
language plpgsql
set search_path from current
as $$
declare
  pages constant bigint := (pg_relation_size('ragpg.chunk') + pg_relation_size('ragpg.link')) / 8192;
  planned constant bigint := nullif(current_setting('ragpg.planned_pages', true), '')::bigint;
begin
  if pages between planned / 2 and 2 * planned + 2 then
    return false;
  end if;
  perform set_config('ragpg.planned_pages', pages::text, false);
  if planned is null then  -- nothing has been planned yet, or by others
    return false;
  end if;
  discard plans;
  return true;
end $$;

comment on function ragpg.renew_plans() is
$$Lets the session forget its kept plans where documents have doubled since; true where it did.

  select ragpg.renew_plans();

ragpg.store_staged() calls it. Statistics of words it leaves alone: `ragpg.fold_statistics()` belongs into a
transaction of its own, between two stores.$$;
