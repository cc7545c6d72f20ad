-- In the order of ids, so that a caller goes on from the last one and never meets a text twice that
-- its model refuses.
create or replace function ragpg.chunks_without_vectors(
  namespace text, space_id integer, after bigint default 0, k integer default 100)
returns table (chunk_id bigint, breadcrumb text, content text)
language plpgsql stable
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[chunks_without_vectors.namespace]))[1];
begin
  if not exists (select from ragpg.embedding_space where embedding_space.id = chunks_without_vectors.space_id) then
    raise exception 'embedding space % does not exist', space_id using errcode = 'RG005',
      hint = 'List them with: select * from ragpg.embedding_space';
  end if;
  return query execute format(
    'select chunk.id, chunk.breadcrumb, chunk.prefix || chunk.content from ragpg.chunk
      where chunk.namespace_id = $1 and chunk.id > $2
        and not exists (select from ragpg.embedding_%s as vectors
                         where vectors.namespace_id = $1 and vectors.chunk_id = chunk.id)
      order by chunk.id limit $3', space_id) using owner, after, k;
end $$;

comment on function ragpg.chunks_without_vectors(text, integer, bigint, integer) is
$$Chunks of a namespace that have no vector in an embedding space, by id, with what is embedded of them.

  select chunk_id from ragpg.chunks_without_vectors('handbook', 2, after => 0, k => 100);

after  only chunks with a greater id: the last one of the call before$$;
