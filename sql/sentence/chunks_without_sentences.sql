-- In the order of ids, so that a caller goes on from the last one and never meets a text twice that
-- its model refuses.
create or replace function ragpg.chunks_without_sentences(namespace text, after bigint default 0, k integer default 100)
returns table (chunk_id bigint, content text)
language plpgsql stable
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[chunks_without_sentences.namespace]))[1];
  space integer := (select namespace.space_id from ragpg.namespace where namespace.id = owner);
begin
  if space is null then
    return;
  elsif to_regclass(format('ragpg.sentence_%s', space)) is null then
    return query
    select chunk.id, chunk.content from ragpg.chunk
     where chunk.namespace_id = owner and chunk.id > chunks_without_sentences.after
     order by chunk.id limit chunks_without_sentences.k;
    return;
  end if;
  return query execute format(
    'select chunk.id, chunk.content from ragpg.chunk
      where chunk.namespace_id = $1 and chunk.id > $2
        and not exists (select from ragpg.sentence_%s as sentences
                         where sentences.namespace_id = $1 and sentences.chunk_id = chunk.id)
      order by chunk.id limit $3', space) using owner, after, k;
end $$;

comment on function ragpg.chunks_without_sentences(text, bigint, integer) is
$$Chunks of a namespace whose sentences have no vectors in its embedding space, by id.

  select * from ragpg.chunks_without_sentences('handbook', after => 0, k => 100);

after  only chunks with a greater id: the last one of the call before$$;
