-- A file for databases that have an extension, where this role may use the extension's schema. Its
-- functions see that schema too, before pg_temp.
do $ragpg_if$
declare
  place  text;
  before text := current_setting('search_path');
begin
  select pg_namespace.nspname into place
    from pg_catalog.pg_extension
    join pg_catalog.pg_namespace on pg_namespace.oid = extnamespace
   where extname = '{extension}' and has_schema_privilege(pg_namespace.oid, 'usage');
  if place is not null then
    perform set_config('search_path',
      regexp_replace(before, 'pg_temp$', quote_ident(place) || ', pg_temp'), true);
    execute $ragpg_then$
{text}
$ragpg_then$;
    perform set_config('search_path', before, true);
  end if;
end
$ragpg_if$;
