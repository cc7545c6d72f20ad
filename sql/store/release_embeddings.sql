create or replace function ragpg.release_embeddings(space_id integer, hashes bytea[])
returns void
language sql
begin atomic
  delete from ragpg.embedding_claim as claim
   where claim.space_id = release_embeddings.space_id and claim.hash = any (hashes);
end;

comment on function ragpg.release_embeddings(integer, bytea[]) is
$$Gives up claims on embeddings that could not be computed.

  select ragpg.release_embeddings(1, array['\x00'::bytea]);$$;
