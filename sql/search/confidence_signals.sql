-- What tells, without knowing the answer, whether a search found one: how far the best hit of an arm
-- stands out, how much of the query the namespace knows, and whether the arms agree. Comparable
-- between queries, namespaces and embedding models, which fused scores are not.
create or replace function ragpg.confidence_signals(
  hits ragpg.arm_hit[], query text, embedding vector, namespace_ids integer[], background double precision default null)
returns jsonb
language plpgsql stable
set search_path from current
as $$
declare
  seen record;
  term record;
  chunks double precision;
  agreement jsonb := '{}';
  signals jsonb := '{}';
begin
  select max(hit.score) filter (where hit.arm = 'keyword') as keyword,
         min(hit.score) filter (where hit.arm = 'keyword') as keyword_tenth,
         max(hit.score) filter (where hit.arm = 'vector') as vector,
         min(hit.score) filter (where hit.arm = 'vector') as vector_tenth,
         count(*) - count(distinct (hit.namespace_id, hit.chunk_id)) as shared
    into seen
    from unnest(hits) as hit where hit.arm in ('keyword', 'vector') and hit.rank <= 10;
  if seen.keyword is not null and seen.vector is not null then
    -- Less what chance alone would share: in a small namespace all lists are alike.
    select greatest(sum(namespace_statistics.chunks), 11) into chunks
      from ragpg.namespace_statistics where namespace_statistics.namespace_id = any (namespace_ids);
    agreement := jsonb_build_object('agreement',
      round(greatest(0, (seen.shared / 10.0 - 10 / chunks) / (1 - 10 / chunks))::numeric, 4));
  end if;
  if seen.keyword is not null then
    select sum(one.weight) as total, coalesce(sum(one.weight) filter (where one.documents = 0), 0) as unknown, count(*) as terms
      into term from ragpg.weighted_terms(query, namespace_ids) as one;
    signals := signals || jsonb_build_object('keyword', agreement || jsonb_build_object(
      'coverage', round((seen.keyword / term.total)::numeric, 4),
      'gap', round(((seen.keyword - seen.keyword_tenth) / term.total)::numeric, 4),
      'unknown', round((term.unknown / term.total)::numeric, 4),
      'terms', term.terms));
  end if;
  if seen.vector is not null and embedding is not null then
    if background is null then
      select least(coalesce(avg(one.cosine), 0), 0.9) into background
        from ragpg.cosines(embedding, namespace_ids, ragpg.sample_chunks(namespace_ids)) as one;
    end if;
    signals := signals || jsonb_build_object('vector', agreement || jsonb_build_object(
      'near', round(((seen.vector - background) / (1 - background))::numeric, 4),
      'gap', round(((seen.vector - seen.vector_tenth) / (1 - background))::numeric, 4)));
  end if;
  return signals;
end $$;

comment on function ragpg.confidence_signals(ragpg.arm_hit[], text, vector, integer[], double precision) is
$$Signals of how good the lists of the keyword and the vector arm are, by arm.

keyword   coverage   the best BM25 score as a share of the query's whole weight
          gap        how far the tenth lies below it, in the same share
          unknown    the part of the weight that is in no chunk
          terms      how many terms the query has
vector    near       where the best cosine lies between the background (0) and the same direction (1)
          gap        how far the tenth lies below it, on the same scale
both      agreement  the share of the ten best that the lists have in common, chance taken off

  select ragpg.confidence_signals('{}', 'refund', null, ragpg.namespace_ids('{default}'));

background  the cosine of the query to chunks at large; null: it is measured$$;
