create or replace function ragpg.store_report_vectors(
  namespace text, reporter text, digests bytea[], embeddings vector[])
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[store_report_vectors.namespace]))[1];
  space ragpg.embedding_space;
  odd integer;
  written bigint;
begin
  select one.* into space from ragpg.namespace join ragpg.embedding_space as one on one.id = namespace.space_id
   where namespace.id = owner;
  select vector_dims(given.embedding) into odd from unnest(embeddings) as given (embedding)
   where vector_dims(given.embedding) is distinct from space.dimensions limit 1;
  if odd is not null then
    raise exception 'namespace "%" takes vectors of % dimensions, got %', store_report_vectors.namespace,
      coalesce(space.dimensions::text, 'no'), odd
      using errcode = 'RG002', hint = 'Use the embedder that the documents were ingested with.';
  end if;
  update ragpg.community_report as report set embedding = given.embedding, space_id = space.id
    from unnest(digests, embeddings) as given (digest, embedding)
   where report.namespace_id = owner and report.reporter = store_report_vectors.reporter and report.digest = given.digest;
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.store_report_vectors(text, text, bytea[], vector[]) is
$$Gives reports their vectors, in the embedding space of the namespace; returns how many got one.

  select ragpg.store_report_vectors('default', 'some-model', '{"\\x00ff"}', '{"[0.1,0.2]"}');$$;
