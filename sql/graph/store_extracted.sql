-- What an extractor says of chunks takes the place of what it said before; others' words stay.
create or replace function ragpg.store_extracted(
  namespace text, origin text, chunks bigint[], mentions jsonb default '[]', relations jsonb default null)
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[store_extracted.namespace]))[1];
  present bigint[];
  touched bigint[];
  written bigint;
begin
  if store_extracted.origin is null or store_extracted.origin in ('', 'titles') then
    raise exception 'origin "%" cannot be an extractor''s', store_extracted.origin using errcode = 'RG005',
      hint = 'Name the extractor and its model, as in "spacy:en_core_web_sm".';
  end if;
  if jsonb_typeof(coalesce(mentions, '[]')) <> 'array' or jsonb_typeof(coalesce(relations, '[]')) <> 'array' then
    raise exception 'mentions and relations are lists' using errcode = 'RG005',
      hint = 'As in [{"chunk_id": 1, "name": "Orion"}].';
  end if;
  if exists (select from jsonb_to_recordset(mentions) as one (name text) where coalesce(ragpg.entity_key(one.name), '') = '')
     or exists (select from jsonb_to_recordset(coalesce(relations, '[]')) as one (source text, target text)
                 where coalesce(ragpg.entity_key(one.source), '') = '' or coalesce(ragpg.entity_key(one.target), '') = '') then
    raise exception 'the name of an entity is empty' using errcode = 'RG005', hint = 'A name needs a visible character.';
  end if;
  -- Chunks may have gone since they were read.
  present := array(select chunk.id from ragpg.chunk where chunk.namespace_id = owner and chunk.id = any (chunks)
                    order by chunk.id for key share);
  touched := array(select mention.entity_id from ragpg.mention
                    where mention.namespace_id = owner and mention.chunk_id = any (present) and mention.origin = store_extracted.origin);
  delete from ragpg.relation
   where relations is not null and relation.namespace_id = owner and relation.chunk_id = any (present);
  with named as materialized (
    select one.chunk_id, ragpg.entity_key(one.name) as key, one.name, one.kind, one.description, coalesce(one.weight, 1) as weight
      from jsonb_to_recordset(mentions) as one (chunk_id bigint, name text, kind text, description text, weight real)
     where one.chunk_id = any (present)
  ), joined as materialized (
    select one.chunk_id, one.source, one.target, ragpg.entity_key(one.source) as source_key, ragpg.entity_key(one.target) as target_key,
           coalesce(nullif(left(one.kind, 120), ''), 'related') as kind, one.description, coalesce(one.weight, 1) as weight
      from jsonb_to_recordset(coalesce(relations, '[]')) as one (chunk_id bigint, source text, target text, kind text, description text, weight real)
     where one.chunk_id = any (present)
  ), heard as materialized (
    -- The ends of a relation are mentions too.
    select one.key, one.name, one.kind, one.chunk_id, one.description, one.weight from named as one
     union all
    select joined.source_key, joined.source, null, joined.chunk_id, null, 1 from joined
     union all
    select joined.target_key, joined.target, null, joined.chunk_id, null, 1 from joined
  ), entity as materialized (
    select made.* from (select array_agg(one.key) as keys, array_agg(one.name) as names, array_agg(one.kind) as kinds
                          from (select heard.key, min(heard.name) as name, min(nullif(heard.kind, '')) as kind from heard group by 1) as one) as all_of,
           ragpg.upsert_entities(owner, all_of.keys, all_of.names, all_of.kinds) as made
     where all_of.keys is not null
  ), related as (
    insert into ragpg.relation (namespace_id, source, target, kind, chunk_id, weight, description)
    select owner, source.id, target.id, joined.kind, joined.chunk_id, max(joined.weight), coalesce(max(joined.description), '')
      from joined join entity as source on source.key = joined.source_key join entity as target on target.key = joined.target_key
     group by 2, 3, 4, 5
     order by 5, 2, 3, 4
  ), kept as (
    insert into ragpg.mention as stored (namespace_id, chunk_id, entity_id, origin, weight, description)
    select owner, heard.chunk_id, entity.id, store_extracted.origin, max(heard.weight), coalesce(max(heard.description), '')
      from heard join entity using (key)
     group by 2, 3
     order by 2, 3
    on conflict on constraint mention_pkey do update set weight = excluded.weight, description = excluded.description
    returning stored.chunk_id, stored.entity_id
  ), gone as (
    delete from ragpg.mention as old
     where old.namespace_id = owner and old.chunk_id = any (present) and old.origin = store_extracted.origin
       and not exists (select from heard join entity using (key)
                        where heard.chunk_id = old.chunk_id and entity.id = old.entity_id)
  )
  select count(*) into written from kept;
  perform ragpg.remove_orphans(owner, touched);
  return written;
end $$;

comment on function ragpg.store_extracted(text, text, bigint[], jsonb, jsonb) is
$$Stores the entities and relations that an extractor found in chunks; returns how many mentions.

  select ragpg.store_extracted('default', 'by hand', '{1}',
    '[{"chunk_id": 1, "name": "Orion", "kind": "rocket"}]',
    '[{"chunk_id": 1, "source": "Orion", "kind": "uses", "target": "Falcon"}]');

origin     who says so; its former words on these chunks go, those of others stay
chunks     all chunks that it has read, with or without a result
mentions   chunk_id, name, and optionally kind, weight, description
relations  chunk_id, source, kind (of 120 characters at most), target, and optionally weight,
           description; null leaves those that the chunks have$$;
