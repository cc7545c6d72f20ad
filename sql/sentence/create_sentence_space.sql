-- Makes a table, so it runs with the rights of the schema's owner, as ragpg.create_embedding_space.
create or replace function ragpg.create_sentence_space(space_id integer)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
  space ragpg.embedding_space;
begin
  if pg_catalog.to_regclass(pg_catalog.format('ragpg.sentence_%s', space_id)) is not null then
    return;
  end if;
  select embedding_space.* into space from ragpg.embedding_space
   where embedding_space.id = create_sentence_space.space_id;
  if space.id is null then
    raise exception 'there is no embedding space %', space_id
      using errcode = 'RG005', hint = 'Ids are in ragpg.embedding_space.';
  end if;
  -- Two sessions must not make the table twice.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('ragpg.create_embedding_space')::bigint);
  execute pg_catalog.format(
    'create table if not exists ragpg.sentence_%s (
       namespace_id integer not null,
       chunk_id     bigint not null,
       ordinal      smallint not null,
       start_char   integer not null,
       end_char     integer not null,
       embedding    %s(%s) not null check ((embedding <#> embedding) < 0),
       primary key (namespace_id, chunk_id, ordinal),
       foreign key (namespace_id, chunk_id) references ragpg.chunk (namespace_id, id) on delete cascade)',
    space.id, space.type, space.dimensions);
  execute pg_catalog.format('comment on table ragpg.sentence_%s is %L', space.id,
    pg_catalog.format('Unit vectors of the sentences of chunks, model %s; offsets are characters of chunk.content.',
      space.model));
  perform ragpg.share_as_chunk(pg_catalog.format('ragpg.sentence_%s', space.id)::pg_catalog.regclass);
end $$;

comment on function ragpg.create_sentence_space(integer) is
$$Makes the place for the sentence vectors of an embedding space, ragpg.sentence_<id>; done once, kept.

  select ragpg.create_sentence_space(1);$$;
