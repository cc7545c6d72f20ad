-- The terms of a query, rarest first, with what each can add to a score at most. Takes terms from
-- the analyser, so any text is a legal query. Long queries are cut: 10,000 characters, 64 terms.
create or replace function ragpg.keyword_terms(query text, namespace_ids integer[])
returns table (word text, documents bigint, bound double precision)
language sql stable parallel safe
begin atomic
  with unfolded as (
    select coalesce(sum(keyword_log.sign * keyword_log.chunks), 0) as chunks, count(*) as rows
      from ragpg.keyword_log
     where keyword_log.namespace_id = any (namespace_ids)
  ), total as (
    select greatest(coalesce(sum(namespace_statistics.chunks), 0) + (select unfolded.chunks from unfolded), 1)
           ::double precision as chunks
      from ragpg.namespace_statistics
     where namespace_statistics.namespace_id = any (namespace_ids)
  ), asked as (
    select lexeme.lexeme, max(greatest(cardinality(lexeme.positions), 1)) as times
      from (select distinct namespace.text_search_config
              from ragpg.namespace where namespace.id = any (namespace_ids)) as language,
           unnest(ragpg.lexemes(language.text_search_config::regconfig, left(query, 10000))) as lexeme
     where octet_length(lexeme.lexeme) <= 200
     group by 1
  ), known as materialized (
    select asked.lexeme, asked.times,
           (select coalesce(sum(greatest(lexeme_statistics.documents, 0)), 0)::bigint
              from ragpg.lexeme_statistics
             where lexeme_statistics.lexeme = asked.lexeme
               and lexeme_statistics.namespace_id = any (namespace_ids)) as documents
      from asked
  )
  -- idf as in Lucene, never negative. A term without count can only be in rows not folded yet.
  select known.lexeme, known.documents,
         ln(1 + (greatest(total.chunks - known.documents, 0) + 0.5) / (known.documents + 0.5)) * known.times
    from known, total
   where known.documents > 0 or (select unfolded.rows from unfolded) > 0
   order by known.documents, known.lexeme
   limit 64;
end;

comment on function ragpg.keyword_terms(text, integer[]) is
$$Terms of a query with their document counts and idf weights, rarest first.

  select * from ragpg.keyword_terms('refund policy', ragpg.namespace_ids('{default}'));$$;
