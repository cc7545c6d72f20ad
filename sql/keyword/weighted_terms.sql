-- All terms of a query, those that no chunk has included: they weigh as if one chunk nearly had them.
create or replace function ragpg.weighted_terms(query text, namespace_ids integer[])
returns table (word text, documents bigint, weight double precision)
language sql stable parallel safe
begin atomic
  with known as materialized (
    select term.word, term.documents, term.bound from ragpg.keyword_terms(query, namespace_ids) as term
  ), total as (
    select greatest(coalesce(sum(namespace_statistics.chunks), 0), 1)::double precision as chunks
      from ragpg.namespace_statistics
     where namespace_statistics.namespace_id = any (namespace_ids)
  ), asked as (
    select distinct lexeme.lexeme
      from (select distinct namespace.text_search_config
              from ragpg.namespace where namespace.id = any (namespace_ids)) as language,
           unnest(ragpg.lexemes(language.text_search_config::regconfig, left(query, 10000))) as lexeme
     where octet_length(lexeme.lexeme) <= 200
  )
  select asked.lexeme, coalesce(known.documents, 0), coalesce(known.bound, ln(1 + (total.chunks + 0.5) / 0.5))
    from asked
    left join known on known.word = asked.lexeme, total
   order by 3 desc, 1
   limit 64;
end;

comment on function ragpg.weighted_terms(text, integer[]) is
$$The terms of a query with document counts and weights, by namespace ids; see ragpg.query_terms().

  select * from ragpg.weighted_terms('refund policy', ragpg.namespace_ids('{default}'));$$;
