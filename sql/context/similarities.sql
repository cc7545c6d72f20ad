-- Half the matrix of cosines. Vectors are normalised once, which also takes them out of the TOAST
-- table once instead of once a pair; then a pair is one inner product.
create or replace function ragpg.similarities(namespaces text[], chunk_ids bigint[])
returns table (first integer, second integer, similarity real)
language plpgsql stable
set search_path from current
as $$
declare
  space record;
begin
  for space in
    select embedding_space.id, embedding_space.type,
           array_agg(namespace.id order by asked.place) as owners,
           array_agg(asked.chunk_id order by asked.place) as ids,
           array_agg(asked.place::integer order by asked.place) as places
      from unnest(similarities.namespaces, similarities.chunk_ids) with ordinality as asked (name, chunk_id, place)
      join ragpg.namespace on namespace.name = asked.name
       -- As in ragpg.stitch_chunks().
       and (coalesce(current_setting('ragpg.allowed_namespaces', true), '') = ''
            or namespace.name = any (nullif(current_setting('ragpg.allowed_namespaces', true), '')::text[]))
      join ragpg.embedding_space on embedding_space.id = namespace.space_id
     group by embedding_space.id, embedding_space.type
     order by embedding_space.id
  loop
    return query execute format(
      'with given as materialized (
         select asked.place, l2_normalize(vectors.embedding) as direction
           from unnest($1, $2, $3) as asked (namespace_id, chunk_id, place)
           join ragpg.embedding_%s as vectors
             on vectors.namespace_id = asked.namespace_id and vectors.chunk_id = asked.chunk_id)
       select one.place, other.place, (-(one.direction <#> other.direction))::real
         from given as one
         join given as other on other.place > one.place
        order by one.place, other.place', space.id)
      using space.owners, space.ids, space.places;
  end loop;
end $$;

comment on function ragpg.similarities(text[], bigint[]) is
$$Cosine similarity of every pair of chunks, from their stored vectors.

  select * from ragpg.similarities('{default,default,default}', '{42,57,58}');

namespaces, chunk_ids  the chunks, side by side; first and second count them from 1

Pairs are missing where a chunk has no vector, or where two namespaces have different models.$$;
