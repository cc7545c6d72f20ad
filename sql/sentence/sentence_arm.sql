-- Late interaction over stored vectors: what a chunk is worth is what its best sentence is worth.
-- Only candidates of other arms are looked at, so the cost is a bounded number of key look-ups and
-- no index over sentences is needed.
create or replace function ragpg.sentence_arm(
  embedding vector, namespace_ids integer[], candidates bigint[], k integer)
returns setof ragpg.arm_hit
language plpgsql stable
set search_path from current
as $$
declare
  -- Shares of the second best sentence and of the whole chunk in a score, as measured.
  runner_up constant double precision := 0;
  whole constant double precision := 0.5;
  spaces integer[];
  space ragpg.embedding_space;
  hits ragpg.arm_hit[];
begin
  if k <= 0 or embedding is null or cardinality(namespace_ids) = 0 or cardinality(candidates) = 0 then
    return;
  elsif vector_norm(embedding) = 0 then
    raise exception 'the query vector is all zeros' using errcode = 'RG002',
      hint = 'Cosine similarity is undefined for it; leave the vector out to search by keyword.';
  end if;
  select array_agg(distinct namespace.space_id) filter (where namespace.space_id is not null) into spaces
    from ragpg.namespace where namespace.id = any (namespace_ids);
  if spaces is null then
    return;
  elsif cardinality(spaces) > 1 then
    raise exception 'these namespaces use % different embedding spaces', cardinality(spaces)
      using errcode = 'RG002', hint = 'Search them one by one: a vector of one model means nothing to another.';
  elsif to_regclass(format('ragpg.sentence_%s', spaces[1])) is null then
    return;
  end if;
  select embedding_space.* into space from ragpg.embedding_space where embedding_space.id = spaces[1];
  if vector_dims(embedding) <> space.dimensions then
    raise exception 'the query vector has % dimensions, model "%" of this namespace has %',
      vector_dims(embedding), space.model, space.dimensions using errcode = 'RG002',
      hint = 'Embed the query with the model that the namespace was ingested with.';
  end if;
  embedding := l2_normalize(embedding);
  -- A chunk without sentences has the cosine of the whole; the blend of a chunk that has them.
  execute format(
    'with split as (
       select sentences.namespace_id, sentences.chunk_id,
              (array_agg(1 - (sentences.embedding <=> $1::%1$s) order by sentences.embedding <=> $1::%1$s))[1:2] as best
         from ragpg.sentence_%2$s as sentences
        where sentences.namespace_id = any ($2) and sentences.chunk_id = any ($3)
        group by sentences.namespace_id, sentences.chunk_id),
     entire as (
       select vectors.namespace_id, vectors.chunk_id, 1 - (vectors.embedding <=> $1::%1$s) as cosine
         from ragpg.embedding_%2$s as vectors
        where exists (select from split) and vectors.namespace_id = any ($2) and vectors.chunk_id = any ($3)),
     scored as (
       select namespace_id, chunk_id,
              case when split.best is not null then ''maxsim'' end as mode,
              case when split.best is null then entire.cosine
                   else (1 - $5) * ((1 - $4) * split.best[1] + $4 * coalesce(split.best[2], split.best[1]))
                        + $5 * coalesce(entire.cosine, split.best[1]) end as score
         from split full join entire using (namespace_id, chunk_id))
     select array_agg(row(null, ranked.namespace_id, ranked.chunk_id, ranked.rank, ranked.score, ranked.mode, 1)::ragpg.arm_hit
                      order by ranked.rank)
       from (select scored.*, row_number() over (order by scored.score desc, scored.chunk_id)::integer as rank
               from scored) as ranked
      where ranked.rank <= $6', space.type, space.id)
    into hits using embedding, namespace_ids, candidates, runner_up, whole, k;
  return query select * from unnest(hits);
end $$;

comment on function ragpg.sentence_arm(vector, integer[], bigint[], integer) is
$$Candidates by their best sentence, best first: late interaction (MaxSim) over stored vectors.

  select * from ragpg.sentence_arm('[0.1,0.2]', ragpg.namespace_ids('{default}'), '{17,4,23}', 10);

candidates  ids of chunks that other arms found; there is no search of its own

The mode of a hit is maxsim, or null for a chunk whose sentences have no vectors: that one is scored
by its whole. Where no candidate has sentence vectors nothing comes back. They are stored by
Client.fill_sentences() and `ragpg sentences fill`.$$;
