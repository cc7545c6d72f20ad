-- Makes a table, so it runs with the rights of the schema's owner: a writer needs no CREATE. Every
-- call names its schema, because a better match in another one would run with those rights too.
create or replace function ragpg.create_embedding_space(model text, dimensions integer, type text default 'halfvec')
returns integer
language plpgsql security definer
set search_path from current
as $$
declare
  space integer;
begin
  if (type not in ('halfvec', 'vector') or dimensions not between 1 and 16000 or coalesce(model, '') = '') is not false then
    raise exception 'embedding space %: % dimensions of type "%" are not possible', model, dimensions, type
      using errcode = 'RG005', hint = 'Types are halfvec and vector, dimensions 1 to 16000.';
  end if;
  -- Two sessions must not make the table twice.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('ragpg.create_embedding_space')::bigint);
  select embedding_space.id into space from ragpg.embedding_space
   where (embedding_space.model, embedding_space.dimensions, embedding_space.type)
         = (create_embedding_space.model, create_embedding_space.dimensions, create_embedding_space.type);
  if space is not null then
    return space;
  end if;
  insert into ragpg.embedding_space (model, dimensions, type)
  values (create_embedding_space.model, create_embedding_space.dimensions, create_embedding_space.type)
  returning embedding_space.id into space;
  execute pg_catalog.format(
    'create table ragpg.embedding_%s (
       namespace_id integer not null,
       chunk_id     bigint not null,
       embedding    %s(%s) not null check ((embedding <#> embedding) < 0),
       primary key (namespace_id, chunk_id),
       foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade)',
    space, type, dimensions);
  execute pg_catalog.format('comment on table ragpg.embedding_%s is %L', space,
    pg_catalog.format('Vectors of model %s, %s dimensions, by chunk.', model, dimensions));
  perform ragpg.share_as_chunk(pg_catalog.format('ragpg.embedding_%s', space)::pg_catalog.regclass);
  return space;
end $$;

comment on function ragpg.create_embedding_space(text, integer, text) is
$$Creates the place for the vectors of one model, or finds it; returns its id.

  select ragpg.create_embedding_space('text-embedding-3-small', 1536);

type  halfvec (half the space, the same recall) or vector. The index takes halfvec up to 4000
      and vector up to 2000 dimensions; beyond that search is exact$$;
