-- With the owner's rights: what a text of any tenant still needs must be seen, and writers cannot
-- delete from the cache. So every call names its schema, and no operator can be put in the way.
create or replace function ragpg.prune_embedding_cache(older interval default '7 days', k integer default 10000)
returns bigint
language plpgsql security definer
set search_path = pg_catalog
as $$
declare
  pruned bigint;
begin
  perform ragpg.refuse_nulls(jsonb_build_object('older', older, 'k', k));
  -- One at a time; who comes second has nothing to do.
  if not pg_try_advisory_xact_lock(hashtext('ragpg.prune_embedding_cache')) then
    return 0;
  end if;
  with unused as materialized (
    select found.space_id, found.hash from ragpg.unused_embeddings() as found
  ), used_again as (
    delete from ragpg.embedding_unused as noted
     where not exists (select from unused where (unused.space_id, unused.hash) = (noted.space_id, noted.hash))
  )
  insert into ragpg.embedding_unused (space_id, hash)
  select unused.space_id, unused.hash from unused order by unused.space_id, unused.hash
  on conflict (space_id, hash) do nothing;

  -- Whoever asks for a vector at this moment keeps it: see ragpg.claim_embeddings.
  with lapsed as (
    select noted.space_id, noted.hash from ragpg.embedding_unused as noted
     where noted.since <= now() - older
     order by noted.space_id, noted.hash limit k for update skip locked
  ), gone as (
    delete from ragpg.embedding_cache as cache using lapsed
     where cache.space_id = lapsed.space_id and cache.hash = lapsed.hash
    returning 1)
  select count(*) into pruned from gone;
  return pruned;
end $$;

comment on function ragpg.prune_embedding_cache(interval, integer) is
$$Forgets cached vectors of texts that no chunk has any more; returns how many went.

  select ragpg.prune_embedding_cache();
  select ragpg.prune_embedding_cache('0 s');   -- at once
  select ragpg.prune_embedding_cache('30 days', k => 1000);

A vector is kept while a chunk of any namespace that is searched in its space, or keeps that space,
has its text. Else it goes when ragpg.drop_namespace or a call of this function noticed so `older` ago,
and no ingest has asked for it since: until then a file that is moved, or comes back, costs nothing. `ragpg worker`
and `ragpg watch` call it now and then and `ragpg doctor --fix` does, with the retention that is
configured. It reads every chunk's hash once.

older  how long a vector is kept after its text was found to be gone
k      at most so many go at a time: call again while it returns k$$;
