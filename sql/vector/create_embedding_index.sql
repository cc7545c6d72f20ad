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
  vectors bigint;
  memory bigint;     -- kB
  before text := pg_catalog.current_setting('maintenance_work_mem');
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
  -- 1.3 times the size on disk, as ragpg.vector_index.memory_for: a build that spills takes six times as long.
  execute pg_catalog.format('select count(*) from ragpg.embedding_%s', space.id) into vectors;
  memory := least(1048576, 1.3 * vectors * (space.dimensions * (case space.type when 'halfvec' then 2 else 4 end) + 300) / 1024);
  if memory > (select pg_settings.setting::bigint from pg_catalog.pg_settings where pg_settings.name = 'maintenance_work_mem') then
    perform pg_catalog.set_config('maintenance_work_mem', memory::text, true);
  end if;
  execute pg_catalog.format('create index embedding_%s_hnsw on ragpg.embedding_%1$s using hnsw (embedding %s)
                  with (m = %s, ef_construction = %s)',
    space.id, space.type || '_cosine_ops', m, ef_construction);
  perform pg_catalog.set_config('maintenance_work_mem', before, true);
  return true;
end $$;

comment on function ragpg.create_embedding_index(integer, integer, integer) is
$$Builds the HNSW index of an embedding space; false if it is there already or cannot be.

  select ragpg.create_embedding_index(1);

Up to 10,000 candidate rows search is exact and faster without. Blocks writers of the space while it
builds, and takes up to 1 GB of memory for it: `ragpg index build` and ingestion build concurrently.

m, ef_construction  see pgvector; larger is slower to build and finds more$$;
