-- A second look at what the other arms found, with more than one vector a side. Of the chunk: what its
-- best sentence is worth (late interaction, MaxSim). Of the query: its vector moved towards the three
-- best candidates (Rocchio's feedback, on vectors). Only candidates are looked at, so the cost is a
-- bounded number of key look-ups, and sentences need no index of their own.
create or replace function ragpg.sentence_arm(
  embedding vector, namespace_ids integer[], candidates bigint[], k integer)
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
as $$
declare
  -- As measured: the share of the best sentence in a score, and how far the query is moved.
  best_share constant double precision := 0.3;
  moved_by constant double precision := 0.5;
  space ragpg.embedding_space;
  moved vector;
  hits ragpg.arm_hit[];
begin
  perform ragpg.check_access(namespace_ids);
  if k is null then
    raise exception 'k cannot be null' using errcode = 'RG005', hint = 'Leave it out, or give a whole number.';
  end if;
  if k <= 0 or embedding is null or cardinality(namespace_ids) = 0 or cardinality(candidates) = 0 then
    return;
  end if;
  space := ragpg.query_space(embedding, namespace_ids);
  if space.id is null or to_regclass(format('ragpg.sentence_%s', space.id)) is null then
    return;
  end if;
  embedding := l2_normalize(embedding);
  -- The mean of the first three by 1, 1/2 and 1/3 of a rank: 6, 3 and 2 of 11.
  execute format(
    'select sum(l2_normalize(vectors.embedding::vector) * array_fill((seed.weight / 11.0)::real, array[$3])::vector)
       from unnest(($1::bigint[])[1:3], ''{6,3,2}''::integer[]) as seed (chunk_id, weight)
       join ragpg.embedding_%s as vectors
         on vectors.namespace_id = any ($2) and vectors.chunk_id = seed.chunk_id', space.id)
    into moved using candidates, namespace_ids, space.dimensions;
  moved := coalesce(l2_normalize(embedding + moved * array_fill(moved_by::real, array[space.dimensions])::vector), embedding);
  execute format(
    'with split as (
       select sentences.namespace_id, sentences.chunk_id, max(1 - (sentences.embedding <=> $1::%1$s)) as best
         from ragpg.sentence_%2$s as sentences
        where sentences.namespace_id = any ($3) and sentences.chunk_id = any ($4)
        group by sentences.namespace_id, sentences.chunk_id),
     entire as (
       select vectors.namespace_id, vectors.chunk_id, 1 - (vectors.embedding <=> $2::%1$s) as cosine
         from ragpg.embedding_%2$s as vectors
        where vectors.namespace_id = any ($3) and vectors.chunk_id = any ($4)),
     scored as (
       select namespace_id, chunk_id, case when split.best is not null then ''maxsim'' end as mode,
              $5 * coalesce(split.best, entire.cosine) + (1 - $5) * coalesce(entire.cosine, split.best) as score
         from entire full join split using (namespace_id, chunk_id)
        where exists (select from split))
     select array_agg(row(null, ranked.namespace_id, ranked.chunk_id, ranked.rank, ranked.score, ranked.mode, 1)::ragpg.arm_hit
                      order by ranked.rank)
       from (select scored.*, row_number() over (order by scored.score desc, scored.chunk_id)::integer as rank
               from scored) as ranked
      where ranked.rank <= $6', space.type, space.id)
    into hits using embedding, moved, namespace_ids, candidates, best_share, k;
  return query select * from unnest(hits);
end $$;

comment on function ragpg.sentence_arm(vector, integer[], bigint[], integer) is
$$A second look at the candidates of other arms: their best sentence, and the query moved towards the best of them.

  select * from ragpg.sentence_arm('[0.1,0.2]', ragpg.namespace_ids('{default}'), '{17,4,23}', 10);

candidates  ids of chunks that other arms found, best first; there is no search of its own

The score is 0.3 of the cosine of the query and the chunk's best sentence, and 0.7 of the cosine of
the whole chunk and the query after it was moved towards the first three candidates. The mode is
maxsim, or null for a chunk whose sentences have no vectors: there the whole chunk stands for them.
Where no candidate has any, nothing comes back. Client.fill_sentences() and `ragpg sentences` store
them.$$;
