create or replace function ragpg.create_namespace(
  name text, kind text default 'knowledge', language text default 'english',
  space_id integer default null, settings jsonb default '{}')
returns integer
language plpgsql
set search_path from current
as $$
declare
  id integer;
begin
  perform ragpg.refuse_nulls(jsonb_build_object('name', name, 'kind', kind, 'language', language, 'settings', settings));
  perform ragpg.require_allowed(name);
  if kind not in ('knowledge', 'memory') then
    raise exception 'there is no kind of namespace "%"', left(kind, 40) using errcode = 'RG005',
      hint = 'It is knowledge or memory.';
  end if;
  if name ~ '^[[:space:]]*$' or octet_length(name) > 1024 then
    raise exception 'namespace name "%" is %', left(name, 40), case when octet_length(name) > 1024 then 'too long' else 'blank' end
      using errcode = 'RG005', hint = 'A name has 1 to 1024 bytes and at least one character that is not white space.';
  end if;
  begin
    -- A number would pass as the id of anything.
    if not exists (select 1 from pg_catalog.pg_ts_config where pg_ts_config.oid = language::regconfig) then
      raise undefined_object;
    end if;
  exception when undefined_object or invalid_name or invalid_schema_name or syntax_error or feature_not_supported then
    raise exception 'text search configuration "%" does not exist', language
      using errcode = 'RG005', hint = 'List them with \dF; name one that is not in pg_catalog with its schema.';
  end;
  insert into ragpg.namespace (name, kind, text_search_config, space_id, settings)
  values (create_namespace.name, create_namespace.kind, create_namespace.language,
          create_namespace.space_id, create_namespace.settings)
  on conflict on constraint namespace_name_key do nothing;
  select namespace.id into id from ragpg.namespace where namespace.name = create_namespace.name;
  return id;
end $$;

comment on function ragpg.create_namespace(text, text, text, integer, jsonb) is
$$Creates a namespace, or finds the one of that name; returns its id.

  select ragpg.create_namespace('handbook', language => 'german');

name      compared byte by byte: case and blanks count
kind      knowledge or memory
language  a text search configuration (\dF); it decides stemming and stop words
space_id  the embedding space of its vectors; see ragpg.create_embedding_space$$;
