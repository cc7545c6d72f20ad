-- Asked by every arm that compares vectors, so that all refuse a query vector in the same words.
create or replace function ragpg.query_space(embedding vector, namespace_ids integer[])
returns ragpg.embedding_space
language plpgsql stable
set search_path from current
as $$
declare
  spaces integer[];
  space ragpg.embedding_space;
begin
  if vector_norm(embedding) = 0 then
    raise exception 'the query vector is all zeros' using errcode = 'RG002',
      hint = 'Cosine similarity is undefined for it; leave the vector out to search by keyword.';
  end if;
  select array_agg(distinct namespace.space_id) filter (where namespace.space_id is not null) into spaces
    from ragpg.namespace where namespace.id = any (namespace_ids);
  if spaces is null then
    return null;
  elsif cardinality(spaces) > 1 then
    raise exception 'these namespaces use % different embedding spaces', cardinality(spaces)
      using errcode = 'RG002', hint = 'Search them one by one: a vector of one model means nothing to another.';
  end if;
  select embedding_space.* into space from ragpg.embedding_space where embedding_space.id = spaces[1];
  if vector_dims(embedding) <> space.dimensions then
    raise exception 'the query vector has % dimensions, model "%" of this namespace has %',
      vector_dims(embedding), space.model, space.dimensions using errcode = 'RG002',
      hint = 'Embed the query with the model that the namespace was ingested with.';
  end if;
  return space;
end $$;

comment on function ragpg.query_space(vector, integer[]) is
$$The embedding space that a query vector is searched in; null where the namespaces have no vectors.

  select model, dimensions from ragpg.query_space('[0.1,0.2]', ragpg.namespace_ids('{default}'));

Raises RG002 for a vector of zeros, of another length, and for namespaces of several spaces.$$;
