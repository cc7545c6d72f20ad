-- Ids of entities by key, made where they are missing. What is found is locked against removal
-- until the transaction ends; missing keys are inserted in one order, so that writers who meet
-- wait for each other and never in a circle.
create or replace function ragpg.upsert_entities(namespace_id integer, keys text[], names text[], kinds text[] default null)
returns table (key text, id bigint, is_new boolean)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := upsert_entities.namespace_id;
  found_keys text[];
  found_ids bigint[];
  missing text[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('namespace_id', upsert_entities.namespace_id));
  if cardinality(keys) is distinct from cardinality(names)
     or kinds is not null and cardinality(kinds) <> cardinality(keys) or array_position(keys, '') is not null then
    raise exception 'entities: % keys for % names, or a key is empty', cardinality(keys), cardinality(names)
      using errcode = 'RG005', hint = 'A name needs a visible character; its key is ragpg.entity_key(name).';
  end if;
  missing := array(select distinct given.key from unnest(keys) as given (key) where given.key is not null);
  while cardinality(missing) > 0 loop
    select array_agg(found.key), array_agg(found.id) into found_keys, found_ids
      from (select entity.key, entity.id from ragpg.entity
             where entity.namespace_id = owner and entity.key = any (missing)
             order by entity.id for key share) as found;
    return query select found.key, found.id, false from unnest(found_keys, found_ids) as found (key, id);
    missing := array(select wanted.key from unnest(missing) as wanted (key) except select unnest(found_keys));
    exit when cardinality(missing) = 0;
    with made as (
      insert into ragpg.entity (namespace_id, key, name, kind)
      select owner, given.key, min(given.name), coalesce(min(given.kind), 'name')
        from unnest(keys, names, kinds) as given (key, name, kind)
       where given.key = any (missing)
       group by given.key
       order by given.key collate "C"
      on conflict (namespace_id, key) do nothing
      returning entity.key, entity.id
    )
    select array_agg(made.key), array_agg(made.id) into found_keys, found_ids from made;
    return query select made.key, made.id, true from unnest(found_keys, found_ids) as made (key, id);
    missing := array(select wanted.key from unnest(missing) as wanted (key) except select unnest(found_keys));
  end loop;
end $$;

comment on function ragpg.upsert_entities(integer, text[], text[], text[]) is
$$Entities by key: finds or makes them, and returns a row for each different key.

  select * from ragpg.upsert_entities(ragpg.create_namespace('default'), '{delta air lines}', '{Delta Air Lines}');

Entities that nothing mentions in the end are removed; see ragpg.remove_orphans().$$;
