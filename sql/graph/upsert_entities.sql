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
  found record;
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
    for found in
      select entity.key, entity.id from ragpg.entity
       where entity.namespace_id = owner and entity.key = any (missing)
       order by entity.id for key share
    loop
      key := found.key; id := found.id; is_new := false;
      missing := array_remove(missing, found.key);
      return next;
    end loop;
    for found in
      insert into ragpg.entity (namespace_id, key, name, kind)
      select owner, given.key, min(given.name), coalesce(min(given.kind), 'name')
        from unnest(keys, names, kinds) as given (key, name, kind)
       where given.key = any (missing)
       group by given.key
       order by given.key collate "C"
      on conflict (namespace_id, key) do nothing
      returning entity.key, entity.id
    loop
      key := found.key; id := found.id; is_new := true;
      missing := array_remove(missing, found.key);
      return next;
    end loop;
  end loop;
end $$;

comment on function ragpg.upsert_entities(integer, text[], text[], text[]) is
$$Entities by key: finds or makes them, and returns a row for each different key.

  select * from ragpg.upsert_entities(ragpg.create_namespace('default'), '{delta air lines}', '{Delta Air Lines}');

Entities that nothing mentions in the end are removed; see ragpg.remove_orphans().$$;
