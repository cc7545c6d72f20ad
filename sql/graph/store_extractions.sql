-- A chunk's entities and relations become what an extractor said of its text. Chunks that were changed
-- or deleted meanwhile are left alone. Entities are found or made in one call, in the order of their
-- keys, so that two workers never wait in a circle.
create or replace function ragpg.store_extractions(namespace text, extractor text, results jsonb)
returns table (chunks bigint, entities bigint, relations bigint)
language plpgsql
set search_path from current
set client_min_messages = warning
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
  live  bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('extractor', store_extractions.extractor, 'results', store_extractions.results));
  if jsonb_typeof(results) <> 'array' then
    raise exception 'results are a list, not %', jsonb_typeof(results) using errcode = 'RG005',
      hint = 'As in [{"chunk": 1, "hash": "...", "result": {"entities": [], "relations": []}}].';
  end if;
  insert into ragpg.extraction_cache (namespace_id, extractor, hash, result)
  select distinct on (given.hash) owner, store_extractions.extractor, decode(given.hash, 'hex'), given.result
    from jsonb_to_recordset(results) as given (chunk bigint, hash text, result jsonb)
   order by given.hash, given.chunk
  on conflict (namespace_id, extractor, hash) do update set result = excluded.result;

  live := array(
    select chunk.id from jsonb_to_recordset(results) as given (chunk bigint, hash text)
      join ragpg.chunk on chunk.namespace_id = owner and chunk.id = given.chunk
                      and chunk.content_hash = decode(given.hash, 'hex')
     order by chunk.id for key share of chunk);

  create temporary table if not exists ragpg_extracted (
    chunk_id bigint, key text collate "C", name text, kind text, description text) on commit delete rows;
  create temporary table if not exists ragpg_extracted_id (key text collate "C" primary key, id bigint) on commit delete rows;
  create temporary table if not exists ragpg_extracted_relation (
    chunk_id bigint, source bigint, target bigint, kind text collate "C", weight real, description text) on commit delete rows;
  truncate pg_temp.ragpg_extracted, pg_temp.ragpg_extracted_id, pg_temp.ragpg_extracted_relation;
  insert into pg_temp.ragpg_extracted
  select distinct on (given.chunk, ragpg.entity_key(named.name))
         given.chunk, ragpg.entity_key(named.name), named.name, coalesce(nullif(named.kind, ''), 'name'), coalesce(named.description, '')
    from jsonb_to_recordset(results) as given (chunk bigint, result jsonb),
         jsonb_to_recordset(given.result -> 'entities') as named (name text, kind text, description text)
   where given.chunk = any (live) and ragpg.entity_key(named.name) <> ''
   order by 1, 2, length(named.name) desc, named.name;
  insert into pg_temp.ragpg_extracted_id
  select made.key, made.id
    from ragpg.upsert_entities(owner,
           (select coalesce(array_agg(distinct key order by key), '{}') from pg_temp.ragpg_extracted),
           (select coalesce(array_agg(name order by key), '{}')
              from (select distinct on (key) key, name from pg_temp.ragpg_extracted order by key, length(name), name) as one),
           (select coalesce(array_agg(kind order by key), '{}')
              from (select distinct on (key) key, kind from pg_temp.ragpg_extracted order by key, kind = 'name', kind) as one)) as made;

  -- What is new comes before what is old goes, so that an entity that stays is never without a mention.
  insert into ragpg.mention as stored (namespace_id, chunk_id, entity_id, origin, description)
  select owner, said.chunk_id, known.id, 'model', said.description
    from pg_temp.ragpg_extracted as said join pg_temp.ragpg_extracted_id as known using (key)
   order by said.chunk_id, known.id
  on conflict (namespace_id, chunk_id, entity_id, origin) do update set description = excluded.description;
  get diagnostics entities = row_count;
  insert into pg_temp.ragpg_extracted_relation
  select distinct on (given.chunk, one.id, other.id, stated.kind)
         given.chunk, one.id, other.id, stated.kind,
         least(greatest(coalesce(stated.weight, 1), 0.01), 10), coalesce(stated.description, '')
    from jsonb_to_recordset(results) as given (chunk bigint, result jsonb),
         jsonb_to_recordset(given.result -> 'relations')
           as stated (source text, target text, kind text, weight real, description text)
    join pg_temp.ragpg_extracted_id as one on one.key = ragpg.entity_key(stated.source)
    join pg_temp.ragpg_extracted_id as other on other.key = ragpg.entity_key(stated.target)
   where given.chunk = any (live) and one.id <> other.id and coalesce(stated.kind, '') <> ''
   order by 1, 2, 3, 4, stated.weight desc;
  insert into ragpg.relation (namespace_id, chunk_id, source, target, kind, weight, description)
  select owner, stated.* from pg_temp.ragpg_extracted_relation as stated order by 2, 3, 4, 5
  on conflict (namespace_id, chunk_id, source, target, kind) do update
     set weight = excluded.weight, description = excluded.description;
  get diagnostics relations = row_count;
  delete from ragpg.relation as old
   where old.namespace_id = owner and old.chunk_id = any (live)
     and not exists (select from pg_temp.ragpg_extracted_relation as stated
                      where (stated.chunk_id, stated.source, stated.target, stated.kind)
                          = (old.chunk_id, old.source, old.target, old.kind));
  delete from ragpg.mention as old
   where old.namespace_id = owner and old.chunk_id = any (live) and old.origin = 'model'
     and not exists (select from pg_temp.ragpg_extracted as said join pg_temp.ragpg_extracted_id as known using (key)
                      where said.chunk_id = old.chunk_id and known.id = old.entity_id);

  insert into ragpg.extraction (namespace_id, chunk_id, extractor, hash)
  select owner, given.chunk, store_extractions.extractor, decode(given.hash, 'hex')
    from jsonb_to_recordset(results) as given (chunk bigint, hash text)
   where given.chunk = any (live)
  on conflict (namespace_id, chunk_id) do update set extractor = excluded.extractor, hash = excluded.hash;
  chunks := cardinality(live);
  return next;
end $$;

comment on function ragpg.store_extractions(text, text, jsonb) is
$$Writes what an extractor said of chunks: entities with a description, and relations between them.

  select * from ragpg.store_extractions('default', 'some-model', '[{"chunk": 17, "hash": "00ff", "result":
    {"entities": [{"name": "Orion", "kind": "system", "description": "A queue."}], "relations": []}}]');

results  a list of {"chunk": id, "hash": content_hash in hex, "result": {"entities": [{"name", "kind",
         "description"}], "relations": [{"source", "target", "kind", "weight", "description"}]}}

Kept by text and extractor, so that the same text is not asked about again. Returns how many chunks were
still as they had been read, and what was written of them.$$;
