-- Several writers with one text: one of them computes, the others wait for it.
create or replace function ragpg.claim_embeddings(space_id integer, hashes bytea[], ttl interval default '120 seconds')
returns table (hash bytea, state text)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
begin
  return query
  with asked as (
    select distinct given.hash from unnest(hashes) as given (hash)
  ), missing as (
    select asked.hash from asked
     where not exists (select 1 from ragpg.embedding_cache as cache
                        where cache.space_id = claim_embeddings.space_id and cache.hash = asked.hash)
  ), mine as (
    insert into ragpg.embedding_claim as claim (space_id, hash, expires_at)
    select claim_embeddings.space_id, missing.hash, clock_timestamp() + ttl from missing order by missing.hash
    on conflict (space_id, hash) do update set expires_at = excluded.expires_at
     where claim.expires_at < clock_timestamp()
    returning claim.hash
  )
  select asked.hash,
         case when missing.hash is null then 'cached' when mine.hash is not null then 'claimed' else 'busy' end
    from asked
    left join missing using (hash)
    left join mine using (hash)
   order by asked.hash;
end $$;

comment on function ragpg.claim_embeddings(integer, bytea[], interval) is
$$Which embeddings are cached, which this caller is to compute (claimed), and which another
caller is computing (busy: ask again shortly). A claim that is not fulfilled lapses after ttl.

  select * from ragpg.claim_embeddings(1, array['\x00'::bytea]);$$;
