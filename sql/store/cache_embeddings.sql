create or replace function ragpg.cache_embeddings(space_id integer, hashes bytea[], embeddings vector[])
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  expected integer;
  odd integer;
  written bigint;
begin
  select embedding_space.dimensions into expected from ragpg.embedding_space
   where embedding_space.id = cache_embeddings.space_id;
  select vector_dims(given.embedding) into odd from unnest(embeddings) as given (embedding)
   where vector_dims(given.embedding) <> expected limit 1;
  if odd is not null or cardinality(hashes) <> cardinality(embeddings) then
    raise exception 'embedding space % takes vectors of % dimensions, got %', space_id, expected,
      coalesce(odd::text, format('%s vectors for %s texts', cardinality(embeddings), cardinality(hashes)))
      using errcode = 'RG002', hint = 'Another model needs another space: ragpg.create_embedding_space(model, dimensions).';
  end if;
  insert into ragpg.embedding_cache (space_id, hash, embedding)
  select cache_embeddings.space_id, given.hash, given.embedding
    from unnest(hashes, embeddings) as given (hash, embedding)
   order by given.hash
  on conflict (space_id, hash) do nothing;
  get diagnostics written = row_count;
  delete from ragpg.embedding_claim as claim
   where claim.space_id = cache_embeddings.space_id and claim.hash = any (hashes);
  return written;
end $$;

comment on function ragpg.cache_embeddings(integer, bytea[], vector[]) is
$$Keeps embeddings by the hash of their text and ends the claims on them; returns how many are new.

  select ragpg.cache_embeddings(1, array['\x00'::bytea], array['[0.1,0.2]'::vector]);$$;
