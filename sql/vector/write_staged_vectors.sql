-- Into the space that is searched and every other one that the namespace keeps, so that a change of
-- the model and the way back lose nothing that is written meanwhile.
create or replace function ragpg.write_staged_vectors(owner integer)
returns void
language plpgsql
set search_path from current
as $$
declare
  space record;
begin
  for space in
    select embedding_space.id, embedding_space.type, namespace.space_id = embedding_space.id as active
      from ragpg.namespace
      join ragpg.embedding_space
        on embedding_space.id = namespace.space_id
        or embedding_space.id in (select kept.space_id from ragpg.namespace_space as kept
                                   where kept.namespace_id = namespace.id)
     where namespace.id = owner
     order by embedding_space.id
  loop
    -- A chunk whose text to embed has changed and has no vector yet must not keep the old one.
    execute format(
      'delete from ragpg.embedding_%s as vectors using pg_temp.ragpg_stage_plan as plan
        where vectors.namespace_id = $1 and vectors.chunk_id = plan.chunk_id and plan.reembed and not plan.is_new', space.id)
      using owner;
    execute format(
      'insert into ragpg.embedding_%s (namespace_id, chunk_id, embedding)
       select $1, plan.chunk_id, cache.embedding::%s
         from pg_temp.ragpg_stage_plan as plan
         join pg_temp.ragpg_stage_chunk as piece using (source, ordinal)
         join ragpg.embedding_cache as cache on cache.space_id = $2 and cache.hash = piece.embedding_hash
        where plan.is_new or plan.reembed or not exists (
              select 1 from ragpg.embedding_%1$s as present
               where present.namespace_id = $1 and present.chunk_id = plan.chunk_id)
        order by plan.source, plan.ordinal
       on conflict (namespace_id, chunk_id) do update set embedding = excluded.embedding', space.id, space.type)
      using owner, space.id;
    if space.active then
      execute format(
        'update pg_temp.ragpg_stage_plan as plan set embedded = exists (
           select 1 from ragpg.embedding_%s as vectors
            where vectors.namespace_id = $1 and vectors.chunk_id = plan.chunk_id)', space.id)
        using owner;
    end if;
  end loop;
end $$;

comment on function ragpg.write_staged_vectors(integer) is
$$Part of ragpg.store_staged(): gives the staged chunks their vectors, from the cache, in every
embedding space that their namespace keeps.$$;
