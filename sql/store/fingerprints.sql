create or replace function ragpg.fingerprints(namespace text, sources text[] default null)
returns table (source text, fingerprint bytea, status text, error text, chunks integer)
language sql stable
begin atomic
  select document.source, document.fingerprint, document.status, document.error,
         (select count(*)::integer from ragpg.chunk
           where chunk.namespace_id = document.namespace_id and chunk.document_id = document.id)
    from ragpg.document
   where document.namespace_id = any (ragpg.namespace_ids(array[namespace]))
     and (sources is null or document.source = any (sources))
   order by document.source;
end;

comment on function ragpg.fingerprints(text, text[]) is
$$What is stored of some sources, or of all: an ingest skips those whose fingerprint is the same.

  select source, status, chunks from ragpg.fingerprints('handbook');$$;
