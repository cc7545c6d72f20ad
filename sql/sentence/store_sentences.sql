-- A chunk may have been deleted while its sentences were embedded: what is gone is left out. Its text
-- never changes under an id, so what is there stays.
create or replace function ragpg.store_sentences(
  namespace text, chunk_ids bigint[], ordinals integer[], starts integer[], ends integer[], embeddings vector[])
returns bigint
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[store_sentences.namespace]))[1];
  space ragpg.embedding_space;
  stored bigint;
begin
  if array_position(ordinals, null) is not null or array_position(starts, null) is not null
     or array_position(ends, null) is not null or array_position(embeddings, null) is not null
     or (cardinality(chunk_ids) = cardinality(ordinals) and cardinality(ordinals) = cardinality(starts)
         and cardinality(starts) = cardinality(ends) and cardinality(ends) = cardinality(embeddings)) is not true then
    raise exception 'sentences are lists of one length without nulls' using errcode = 'RG005',
      hint = 'Give an ordinal, a start, an end and a vector for each.';
  end if;
  select embedding_space.* into space from ragpg.namespace
    join ragpg.embedding_space on embedding_space.id = namespace.space_id where namespace.id = owner;
  if space.id is null then
    raise exception 'namespace "%" has no embedding space', store_sentences.namespace
      using errcode = 'RG005', hint = 'Ingest it with an embedder first.';
  end if;
  perform ragpg.create_sentence_space(space.id);
  perform from ragpg.chunk where chunk.namespace_id = owner and chunk.id = any (chunk_ids)
    order by chunk.id for key share;
  execute format(
    'insert into ragpg.sentence_%s (namespace_id, chunk_id, ordinal, start_char, end_char, embedding)
     select $1, given.chunk_id, given.ordinal, given.start_char, given.end_char, l2_normalize(given.embedding)::%s
       from unnest($2, $3, $4, $5, $6) as given (chunk_id, ordinal, start_char, end_char, embedding)
       join ragpg.chunk on chunk.namespace_id = $1 and chunk.id = given.chunk_id
      order by given.chunk_id, given.ordinal
     on conflict (namespace_id, chunk_id, ordinal) do nothing', space.id, space.type)
    using owner, chunk_ids, ordinals, starts, ends, embeddings;
  get diagnostics stored = row_count;
  return stored;
end $$;

comment on function ragpg.store_sentences(text, bigint[], integer[], integer[], integer[], vector[]) is
$$Stores the vectors of sentences in the embedding space of a namespace; returns how many are new.

  select ragpg.store_sentences('handbook', '{17,17}', '{0,1}', '{0,42}', '{41,80}', '{"[0.1,0.2]","[0.3,0.1]"}');

Arrays of one length, an item for each sentence: its chunk, its number within the chunk from 0, and
its characters in chunk.content.$$;
