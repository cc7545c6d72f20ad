-- What must be there before the first table: the extensions and the schema.
-- Nothing is tried that is there already: a role without any right to create one is enough then.
do $ragpg$
declare
  needed     record;
  statements text[] := '{}';
  names      text[] := '{}';
  place      text;
begin
  if exists (select from pg_catalog.pg_get_keywords() as keyword
              where keyword.word = 'ragpg' and keyword.catcode <> 'U') then
    raise exception 'schema name % is not allowed: SQL reserves the word', 'ragpg'
      using errcode = 'RG005', hint = 'Choose a name that needs no quotes.';
  end if;
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'database % has the encoding %, ragpg needs UTF8',
                    current_database(), current_setting('server_encoding')
      using errcode = 'RG005', hint = 'Create one: CREATE DATABASE ... ENCODING ''UTF8'' TEMPLATE template0;';
  end if;

  for needed in
    select extension.name, extension.version
      from (values ('vector', '0.8'), ('btree_gin', '1.0')) as extension (name, version)
     where not exists (select from pg_catalog.pg_extension where extname = extension.name)
  loop
    begin
      execute format('create extension %I%s', needed.name,
        case when to_regnamespace('public') is not null then ' schema public' else '' end);
    exception
      when insufficient_privilege or undefined_file or feature_not_supported then
        names := names || needed.name;
        statements := statements || format('CREATE EXTENSION %s;', needed.name);
      when duplicate_object or unique_violation then
        null;  -- another session was faster
    end;
  end loop;
  if cardinality(names) > 0 then
    raise exception 'database % lacks the extension %, and role % cannot install it',
                    current_database(), array_to_string(names, ' and '), current_user
      using errcode = 'RG004',
            hint = format('An administrator runs in this database: %s', array_to_string(statements, ' '))
              || coalesce((select format(' (%s: first install its package on the server)',
                                    string_agg(missing.name, ', '))
                             from unnest(names) as missing (name)
                            where missing.name not in (select available.name
                                                         from pg_catalog.pg_available_extensions as available)
                           having count(*) > 0), '');
  end if;
  if (select string_to_array(substring(extversion from '^[0-9]+\.[0-9]+'), '.')::integer[] < '{0,8}'
        from pg_catalog.pg_extension where extname = 'vector') then
    raise exception 'extension vector is older than 0.8'
      using errcode = 'RG004', hint = 'Its owner runs in this database: ALTER EXTENSION vector UPDATE;';
  end if;
  select pg_namespace.nspname into place
    from pg_catalog.pg_extension
    join pg_catalog.pg_namespace on pg_namespace.oid = pg_extension.extnamespace
   where pg_extension.extname in ('vector', 'btree_gin')
     and not has_schema_privilege(pg_namespace.oid, 'usage')
   limit 1;
  if place is not null then
    raise exception 'role % may not use schema %, where an extension lives', current_user, place
      using errcode = 'RG004',
            hint = format('Its owner runs: GRANT USAGE ON SCHEMA %I TO %I;', place, current_user);
  end if;

  if to_regnamespace('ragpg') is null then
    begin
      execute format('create schema %I', 'ragpg');
    exception
      when insufficient_privilege then
        raise exception 'role % may not create schema %', current_user, 'ragpg'
          using errcode = '42501',
                hint = format('The owner of the database runs: CREATE SCHEMA %I AUTHORIZATION %I;',
                         'ragpg', current_user);
      when duplicate_schema or unique_violation then
        null;  -- another session was faster
    end;
  elsif not has_schema_privilege('ragpg', 'create') then
    raise exception 'role % may not create tables in schema %', current_user, 'ragpg'
      using errcode = '42501',
            hint = format('Its owner runs: GRANT CREATE, USAGE ON SCHEMA %I TO %I;', 'ragpg', current_user);
  end if;
end
$ragpg$;
