-- Late interaction over stored vectors: key look-ups only, so it needs no index of its own.
create or replace function ragpg.sentence_scores(
  embedding vector, namespaces text[], chunk_ids bigint[], model text default null)
returns table (chunk_id bigint, best double precision, runner_up double precision)
language plpgsql stable
set search_path from current
as $$
declare
  ids constant integer[] := ragpg.namespace_ids(namespaces);
  space ragpg.embedding_space;
begin
  if embedding is null then
    return;
  end if;
  space := ragpg.query_space(embedding, ids);
  if space.id is null or space.model <> model or to_regclass(format('ragpg.sentence_%s', space.id)) is null then
    return;
  end if;
  return query execute format(
    'select ranked.chunk_id, ranked.cosines[1], coalesce(ranked.cosines[2], ranked.cosines[1])
       from (select sentences.chunk_id,
                    array_agg(1 - (sentences.embedding <=> $1::%s) order by sentences.embedding <=> $1::%1$s) as cosines
               from ragpg.sentence_%s as sentences
              where sentences.namespace_id = any ($2) and sentences.chunk_id = any ($3)
              group by sentences.chunk_id) as ranked
      order by ranked.chunk_id', space.type, space.id) using embedding, ids, chunk_ids;
end $$;

comment on function ragpg.sentence_scores(vector, text[], bigint[], text) is
$$Cosine of a query vector with the best and the second best sentence of chunks; no row for a chunk
whose sentences have no vectors.

  select * from ragpg.sentence_scores('[0.1,0.2]', '{handbook}', '{17,18}');

model  only vectors of this model are compared$$;
