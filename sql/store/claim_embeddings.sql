-- Several writers with one text: one of them computes, the others wait for it.
create or replace function ragpg.claim_embeddings(space_id integer, hashes bytea[], ttl interval default '120 seconds')
returns table (hash bytea, state text)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  mine bytea[];
begin
  with missing as (
    select distinct given.hash from unnest(hashes) as given (hash)
     where not exists (select 1 from ragpg.embedding_cache as cache
                        where cache.space_id = claim_embeddings.space_id and cache.hash = given.hash)
  ), claimed as (
    insert into ragpg.embedding_claim as claim (space_id, hash, expires_at)
    select claim_embeddings.space_id, missing.hash, clock_timestamp() + ttl from missing order by missing.hash
    on conflict (space_id, hash) do update set expires_at = excluded.expires_at
     where claim.expires_at < clock_timestamp()
    returning claim.hash
  )
  select coalesce(array_agg(claimed.hash), '{}') into mine from claimed;

  -- Seen anew: whoever held a claim until a moment ago has filled the cache as it was given up.
  return query
  select asked.hash,
         case when exists (select 1 from ragpg.embedding_cache as cache
                            where cache.space_id = claim_embeddings.space_id and cache.hash = asked.hash) then 'cached'
              when asked.hash = any (mine) then 'claimed' else 'busy' end
    from (select distinct given.hash from unnest(hashes) as given (hash)) as asked
   order by asked.hash;
  -- What is asked for is wanted again. Skipping is right: what is locked is being pruned, or asked for.
  delete from ragpg.embedding_unused as noted
   using (select waiting.hash from ragpg.embedding_unused as waiting
           where waiting.space_id = claim_embeddings.space_id and waiting.hash = any (hashes)
           order by waiting.hash for update skip locked) as wanted
   where noted.space_id = claim_embeddings.space_id and noted.hash = wanted.hash;
  delete from ragpg.embedding_claim as claim
   where claim.space_id = claim_embeddings.space_id and claim.hash = any (mine)
     and exists (select 1 from ragpg.embedding_cache as cache
                  where cache.space_id = claim.space_id and cache.hash = claim.hash);
end $$;

comment on function ragpg.claim_embeddings(integer, bytea[], interval) is
$$Which embeddings are cached, which this caller is to compute (claimed), and which another
caller is computing (busy: ask again shortly). A claim that is not fulfilled lapses after ttl.

  select * from ragpg.claim_embeddings(1, array['\x00'::bytea]);$$;
