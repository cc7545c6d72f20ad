create or replace function ragpg.expand_query(
  query text, namespaces text[] default '{default}', filter jsonb default null, terms integer default 15,
  share double precision default 0.5, seeds bigint[] default null)
returns table (word text, documents bigint, weight double precision, asked boolean)
language sql stable
begin atomic
  select term.*
    from ragpg.prf_terms(query, ragpg.namespace_ids(namespaces),
           coalesce(seeds, array(
             select hit.chunk_id from ragpg.keyword_arm(query, ragpg.namespace_ids(namespaces), filter, 10) as hit
              order by hit.rank)),
           terms, share) as term;
end;

comment on function ragpg.expand_query(text, text[], jsonb, integer, double precision, bigint[]) is
$$A query with the terms that its best keyword hits have in common, heaviest first.

  select * from ragpg.expand_query('refund policy', namespaces => '{handbook}');

terms  so many terms are taken from the hits
share  their part of the whole weight, 0 to 1
seeds  chunk ids to take them from, best first, in place of the ten best keyword hits
asked  whether the query has the word itself$$;
