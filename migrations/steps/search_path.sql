-- The names of types and operators of extensions, wherever those live; until the transaction ends.
-- pg_catalog is searched first by being absent here, so that nothing in public shadows it.
select set_config('search_path',
         concat_ws(', ', 'ragpg',
           (select string_agg(quote_ident(place.nspname), ', ' order by place.first)
              from (select pg_namespace.nspname, min(wanted.rank) as first
                      from unnest(array['vector', 'btree_gin', 'pg_trgm', 'unaccent'])
                           with ordinality as wanted (name, rank)
                      join pg_catalog.pg_extension on pg_extension.extname = wanted.name
                      join pg_catalog.pg_namespace on pg_namespace.oid = pg_extension.extnamespace
                     where pg_namespace.nspname not in ('ragpg', 'pg_catalog')
                     group by pg_namespace.nspname) as place),
           'pg_temp'),
         true);
