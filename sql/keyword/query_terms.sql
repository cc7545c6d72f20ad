create or replace function ragpg.query_terms(query text, namespaces text[] default '{default}')
returns table (word text, documents bigint, weight double precision)
language sql stable
begin atomic
  select term.* from ragpg.weighted_terms(query, ragpg.namespace_ids(namespaces)) as term;
end;

comment on function ragpg.query_terms(text, text[]) is
$$What keyword search makes of a query: its terms, heaviest first. A chunk's BM25 score is below the
sum of the weights of the terms that it has.

  select * from ragpg.query_terms('refund policy', namespaces => '{handbook}');

documents  in how many chunks the word stands; 0: in none
weight     inverse document frequency, times the occurrences in the query$$;
