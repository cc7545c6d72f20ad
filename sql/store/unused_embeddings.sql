-- One reading of the keys of both tables: chunks have no index by this hash, which every ingest would
-- pay for. With the rights of who calls: what is in the cache is for the owner and for writers.
create or replace function ragpg.unused_embeddings()
returns table (space_id integer, hash bytea)
language sql stable rows 10000
begin atomic
  with wanted as (
    select namespace.id as namespace_id, namespace.space_id from ragpg.namespace
     union
    select kept.namespace_id, kept.space_id from ragpg.namespace_space as kept
  )
  select cache.space_id, cache.hash from ragpg.embedding_cache as cache
   where not exists (select from ragpg.chunk join wanted on wanted.namespace_id = chunk.namespace_id
                      where wanted.space_id = cache.space_id and chunk.embedding_hash = cache.hash);
end;

comment on function ragpg.unused_embeddings() is
$$Cached vectors that no chunk has the text of any more, in no namespace that is searched in their
space or keeps it: ragpg.prune_embedding_cache() forgets them after a while.

  select space_id, count(*) from ragpg.unused_embeddings() group by 1;$$;
