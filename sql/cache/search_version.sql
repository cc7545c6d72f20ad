-- The marks of all transactions that wrote to the namespaces, as one number: two snapshots that see
-- the same writes have the same, and no others. Runs with the owner's rights, because row-level
-- security on the marks would cost more than they do; namespace_ids() asks who may.
create or replace function ragpg.search_version(namespaces text[], out version text, out caller text)
language plpgsql stable security definer
set search_path from current
as $$
declare
  ids constant integer[] := ragpg.namespace_ids(namespaces);
begin
  caller := pg_catalog.concat_ws('/', session_user, ragpg.caller(),
    pg_catalog.current_setting('ragpg.allowed_namespaces', true));
  -- What this transaction has written itself has no number that will stand, policies of others may
  -- show each user something else, and who may not read the tables any more is told so by a search.
  if pg_catalog.pg_current_xact_id_if_assigned() is not null
     or not pg_catalog.has_table_privilege(ragpg.caller(), 'ragpg.chunk', 'select')
     or not pg_catalog.has_table_privilege(ragpg.caller(), 'ragpg.install', 'select')
     or exists (select 1 from pg_catalog.pg_policy
                 where pg_policy.polname <> 'namespace_access'
                   and 'ragpg'::pg_catalog.regnamespace = (
                     select pg_class.relnamespace from pg_catalog.pg_class
                      where pg_class.oid = pg_policy.polrelid)) then
    return;
  end if;
  select pg_catalog.concat_ws('/', pg_database.oid, pg_catalog.date_part('epoch', install.installed_at), ids,
           (select pg_catalog.bit_xor(namespace_write.mark) from ragpg.namespace_write
             where namespace_write.namespace_id = any (ids)))
    into version
    from pg_catalog.pg_database, ragpg.install
   where pg_database.datname = pg_catalog.current_database();
end $$;

comment on function ragpg.search_version(text[]) is
$$A name for what a search of namespaces sees now: it is another one after any write to them, and never
again the same. Null where nothing may be kept: inside a transaction that has written, where
tables have policies of others, and for a caller who may not read them. Caller is whose rights count. Raises RG001 for a namespace that is
unknown, or closed to the caller.

  select version from ragpg.search_version('{handbook}');$$;
