create or replace function ragpg.pending_extractions(
  namespace text, extractor text, after bigint default 0, k integer default 100)
returns table (chunk_id bigint, hash bytea, title text, breadcrumb text, content text, known jsonb)
language sql stable
begin atomic
  select chunk.id, chunk.content_hash, document.title, chunk.breadcrumb, chunk.content, extraction_cache.result
    from ragpg.chunk
    join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
    left join ragpg.extraction_cache
      on extraction_cache.namespace_id = chunk.namespace_id
     and extraction_cache.extractor = pending_extractions.extractor
     and extraction_cache.hash = chunk.content_hash
   where chunk.namespace_id = (ragpg.namespace_ids(array[pending_extractions.namespace]))[1] and chunk.id > after
     and not exists (
           select 1 from ragpg.extraction
            where extraction.namespace_id = chunk.namespace_id and extraction.chunk_id = chunk.id
              and extraction.extractor = pending_extractions.extractor and extraction.hash = chunk.content_hash)
   order by chunk.id
   limit k;
end;

comment on function ragpg.pending_extractions(text, text, bigint, integer) is
$$Chunks whose entities and relations an extractor has not given yet, by id, with what it said of the same
text before (null: nothing).

  select * from ragpg.pending_extractions('default', 'some-model', k => 10);

extractor  the name of the model and its prompt
after      only chunks with a greater id$$;
