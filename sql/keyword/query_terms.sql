create or replace function ragpg.query_terms(query text, namespaces text[] default '{default}')
returns table (word text, documents bigint, weight double precision)
language sql stable
begin atomic
  with named as materialized (
    select ragpg.namespace_ids(namespaces) as ids
  ), known as materialized (
    select term.word, term.documents, term.bound
      from named, ragpg.keyword_terms(query, named.ids) as term
  ), total as (
    select greatest(coalesce(sum(namespace_statistics.chunks), 0), 1)::double precision as chunks
      from named
      join ragpg.namespace_statistics on namespace_statistics.namespace_id = any (named.ids)
  ), asked as (
    select distinct lexeme.lexeme
      from named
      join ragpg.namespace on namespace.id = any (named.ids),
           unnest(ragpg.lexemes(namespace.text_search_config::regconfig, left(query, 10000))) as lexeme
     where octet_length(lexeme.lexeme) <= 200
  )
  select asked.lexeme, coalesce(known.documents, 0), coalesce(known.bound, ln(1 + (total.chunks + 0.5) / 0.5))
    from asked
    left join known on known.word = asked.lexeme, total
   order by 3 desc, 1
   limit 64;
end;

comment on function ragpg.query_terms(text, text[]) is
$$What keyword search makes of a query: its terms, heaviest first. A chunk's BM25 score is below the
sum of the weights of the terms that it has.

  select * from ragpg.query_terms('refund policy', namespaces => '{handbook}');

documents  in how many chunks the word stands; 0: in none
weight     inverse document frequency, times the occurrences in the query$$;
