-- The BM25 ranking of a query: its known terms, weighted by idf, in the one scan of keyword_ranking.
create or replace function ragpg.keyword_arm(
  query text, namespace_ids integer[], filter jsonb, k integer, min_score double precision default null)
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
as $$
declare
  words text[];
  counts bigint[];
  bounds double precision[];
begin
  perform ragpg.check_access(namespace_ids);
  -- Also where no word is known and nothing is left to be filtered.
  perform ragpg.filter_sql(filter);
  select array_agg(term.word order by term.documents, term.word),
         array_agg(term.documents order by term.documents, term.word),
         array_agg(term.bound order by term.documents, term.word)
    into words, counts, bounds
    from ragpg.keyword_terms(keyword_arm.query, namespace_ids) as term;
  return query
  select hit.* from ragpg.keyword_ranking(words, counts, bounds, namespace_ids, filter, k) as hit
   where keyword_arm.min_score is null or hit.score >= keyword_arm.min_score
   order by hit.rank;
end $$;

comment on function ragpg.keyword_arm(text, integer[], jsonb, integer, double precision) is
$$The BM25 ranking of a query, best first: ids and scores only; ragpg.keyword_search() has the text.

  select * from ragpg.keyword_arm('refund policy', ragpg.namespace_ids('{default}'), null, 10);

Exact for queries of up to twelve known terms; of longer ones the twelve rarest bring in candidates.$$;
