-- Runs with the rights of the schema's owner, so every call names its schema: a better match in
-- another one would run with them too.
create or replace function ragpg.create_embedding_index(
  space_id integer, m integer default 16, ef_construction integer default 128)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  space ragpg.embedding_space;
begin
  perform ragpg.refuse_nulls(pg_catalog.jsonb_build_object('m', create_embedding_index.m, 'ef_construction', create_embedding_index.ef_construction));
  select embedding_space.* into space from ragpg.embedding_space
   where embedding_space.id = create_embedding_index.space_id;
  if space.id is null then
    raise exception 'embedding space % does not exist', space_id using errcode = 'RG005',
      hint = 'List them with: select * from ragpg.embedding_space';
  elsif space.dimensions > (case space.type when 'halfvec' then 4000 else 2000 end) then
    raise warning 'space % has % dimensions of type %, more than an index can hold: search stays exact',
      space.id, space.dimensions, space.type;
    return false;
  end if;
  -- Two sessions must not build it twice.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('ragpg.create_embedding_index')::bigint);
  if ragpg.has_embedding_index(space.id) then
    return false;
  end if;
  execute pg_catalog.format('create index embedding_%s_hnsw on ragpg.embedding_%1$s using hnsw (embedding %s)
                  with (m = %s, ef_construction = %s)',
    space.id, space.type || '_cosine_ops', m, ef_construction);
  return true;
end $$;

comment on function ragpg.create_embedding_index(integer, integer, integer) is
$$Builds the HNSW index of an embedding space; false if it is there already or cannot be.

  select ragpg.create_embedding_index(1);

Up to 10,000 candidate rows search is exact and faster without, so ingestion calls this only
when a space has grown beyond that. Blocks writers of the space while it builds: give
maintenance_work_mem about 1.3 times the size of the index (a build that spills takes six times
as long).

m, ef_construction  see pgvector; larger is slower to build and finds more$$;
