-- The chunks' vectors are in a table of their space, so this is put together as text.
create or replace function ragpg.cosines(embedding vector, namespace_ids integer[], chunk_ids bigint[])
returns table (chunk_id bigint, cosine double precision)
language plpgsql stable
set search_path from current
set enable_seqscan = off
as $$
declare
  space ragpg.embedding_space;
begin
  select one.* into space
    from ragpg.namespace join ragpg.embedding_space as one on one.id = namespace.space_id
   where namespace.id = any (namespace_ids) limit 1;
  if space.id is null then
    return;
  end if;
  return query execute format(
    'select vectors.chunk_id, 1 - (vectors.embedding <=> $1::%s) from ragpg.embedding_%s as vectors
      where vectors.namespace_id = any ($2) and vectors.chunk_id = any ($3)', space.type, space.id)
    using l2_normalize(embedding), namespace_ids, chunk_ids;
end $$;

comment on function ragpg.cosines(vector, integer[], bigint[]) is
$$The cosine similarity of a vector to some chunks; those without a vector are left out.

  select * from ragpg.cosines('[0.1,0.2]', ragpg.namespace_ids('{default}'), '{17,4}');$$;
