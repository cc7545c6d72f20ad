-- By text and extractor, as in ragpg.store_extractions(): a text is not read again, in whichever chunk it
-- comes, and neither is one without a name. Chunks that were changed meanwhile are left alone.
create or replace function ragpg.store_names(namespace text, origin text, results jsonb)
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[store_names.namespace]))[1];
  live bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('origin', store_names.origin, 'results', store_names.results));
  insert into ragpg.extraction_cache (namespace_id, extractor, hash, result)
  select distinct on (given.hash) owner, store_names.origin, decode(given.hash, 'hex'), jsonb_build_object('entities', given.entities)
    from jsonb_to_recordset(results) as given (chunk bigint, hash text, entities jsonb)
   order by given.hash, given.chunk
  on conflict (namespace_id, extractor, hash) do update set result = excluded.result
   where extraction_cache.result <> excluded.result;
  live := array(select chunk.id from jsonb_to_recordset(results) as given (chunk bigint, hash text)
                  join ragpg.chunk on chunk.namespace_id = owner and chunk.id = given.chunk
                                  and chunk.content_hash = decode(given.hash, 'hex')
                 order by chunk.id);
  return ragpg.store_extracted(store_names.namespace, store_names.origin, live,
    (select coalesce(jsonb_agg(named.value || jsonb_build_object('chunk_id', given.chunk)), '[]')
       from jsonb_to_recordset(results) as given (chunk bigint, entities jsonb), jsonb_array_elements(given.entities) as named
      where given.chunk = any (live)));
end $$;

comment on function ragpg.store_names(text, text, jsonb) is
$$Stores the names that an extractor found in chunks, and that it has read them; returns how many mentions.

  select ragpg.store_names('default', 'by hand',
    '[{"chunk": 17, "hash": "00ff", "entities": [{"name": "Orion", "kind": "rocket", "weight": 2}]}]');

results  a list of {"chunk": id, "hash": content_hash in hex, "entities": [{"name", "kind", "weight"}]};
         an empty list of entities says that there are none$$;
