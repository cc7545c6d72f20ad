-- What keyword search stores of a chunk. A statement that writes many asks for the words of each
-- breadcrumb once; see ragpg.write_keywords().
create or replace function ragpg.keyword_row(
  config regconfig, breadcrumb text, content text, metadata jsonb, average_length double precision,
  out length real, out bm25 sparsevec, out lexemes tsvector)
language sql immutable parallel safe
begin atomic
  select made.length, made.bm25, made.lexemes
    from ragpg.weighted_row(
           ragpg.heading_lexemes(config, breadcrumb) || ragpg.content_lexemes(config, content),
           metadata, average_length) as made;
end;

comment on function ragpg.keyword_row(regconfig, text, text, jsonb, double precision) is
$$Length, BM25 vector and lexemes of a chunk, as stored in ragpg.chunk_keyword.

  select * from ragpg.keyword_row('english', 'Guide > Install', 'Run make.', '{"year": 2024}', 100);

average_length  of the chunks of the namespace, in weighted words; see ragpg.namespace$$;
