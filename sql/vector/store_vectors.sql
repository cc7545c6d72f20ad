-- Vectors from the cache to chunks that are there already. The lock makes a writer who changes what
-- is embedded of a chunk come before or after, never between: whoever is first is seen by the other.
create or replace function ragpg.store_vectors(namespace text, space_id integer, chunk_ids bigint[], hashes bytea[])
returns bigint
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[store_vectors.namespace]))[1];
  space ragpg.embedding_space;
  stored bigint;
begin
  select embedding_space.* into space from ragpg.embedding_space
   where embedding_space.id = store_vectors.space_id;
  if space.id is null then
    raise exception 'embedding space % does not exist', space_id using errcode = 'RG005',
      hint = 'List them with: select * from ragpg.embedding_space';
  end if;
  perform from ragpg.chunk where chunk.namespace_id = owner and chunk.id = any (chunk_ids)
    order by chunk.id for share;
  execute format(
    'insert into ragpg.embedding_%s (namespace_id, chunk_id, embedding)
     select $1, chunk.id, cache.embedding::%s
       from unnest($2, $3) as given (chunk_id, hash)
       join ragpg.chunk on chunk.namespace_id = $1 and chunk.id = given.chunk_id
        and coalesce(chunk.embedding_hash, given.hash) = given.hash
       join ragpg.embedding_cache as cache on cache.space_id = $4 and cache.hash = given.hash
      order by chunk.id
     on conflict (namespace_id, chunk_id) do nothing', space.id, space.type)
    using owner, chunk_ids, hashes, space.id;
  get diagnostics stored = row_count;
  return stored;
end $$;

comment on function ragpg.store_vectors(text, integer, bigint[], bytea[]) is
$$Gives chunks that are stored already their vectors of an embedding space; returns how many are new.

  select ragpg.store_vectors('handbook', 2, '{17}', array['\x00'::bytea]);

The vectors come from ragpg.embedding_cache by the hash of the text; chunks whose text has changed
since, or that are gone, are left out.

chunk_ids, hashes  side by side$$;
