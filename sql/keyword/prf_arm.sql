-- The second probe of pseudo-relevance feedback: a BM25 ranking of the expanded query. It needs no
-- exact top k, so its work is bounded: the seeds, and what the heaviest terms bring within a
-- budget of index entries, are scored by all terms.
create or replace function ragpg.prf_arm(
  query text, namespace_ids integer[], filter jsonb, k integer, seeds bigint[])
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
set enable_seqscan = off
as $$
declare
  candidates constant integer := 500;  -- so many further chunks, about, are looked at
  weights sparsevec;
  bringing tsquery;
  narrowed tsquery := ragpg.filter_lexemes(filter);
begin
  perform ragpg.check_access(namespace_ids);
  if k is null then
    raise exception 'k cannot be null' using errcode = 'RG005', hint = 'Leave it out, or give a whole number.';
  end if;
  if k <= 0 or cardinality(namespace_ids) = 0 or coalesce(cardinality(seeds), 0) = 0 then
    return;
  end if;
  with term as materialized (
    select expanded.word, expanded.documents, expanded.weight
      from ragpg.prf_terms(query, namespace_ids, seeds) as expanded
     where expanded.weight > 0
  ), affordable as (
    select term.word, sum(term.documents) over (order by term.weight desc, term.word) as spent
      from term where term.documents <= candidates
  )
  select ('{' || string_agg(slot.slot || ':' || slot.weight, ',') || '}/536870912')::sparsevec,
         (select string_agg(ragpg.quote_lexeme(affordable.word), '|')::tsquery
            from affordable where affordable.spent <= candidates)
    into weights, bringing
    from (select ragpg.lexeme_slot(term.word) as slot, sum(term.weight) as weight from term group by 1) as slot;
  if weights is null then
    return;
  end if;
  if narrowed is not null then bringing := narrowed && bringing; end if;
  return query execute format(
    'select ''prf''::text, best.namespace_id, best.chunk_id,
            (row_number() over (order by best.score desc, best.chunk_id))::integer, best.score, null::text, 1::double precision
       from (select found.namespace_id, found.chunk_id, -(found.bm25 <#> $4) as score
               from (select keyword.namespace_id, keyword.chunk_id, keyword.bm25
                       from ragpg.chunk_keyword as keyword
                      where keyword.namespace_id = any ($1) and keyword.chunk_id = any ($2)
                      union all
                     select keyword.namespace_id, keyword.chunk_id, keyword.bm25
                       from unnest($1) as asked (namespace_id)
                       join ragpg.chunk_keyword as keyword on keyword.namespace_id = asked.namespace_id
                        and keyword.lexemes @@ $3 and keyword.chunk_id <> all ($2)) as found
              where found.bm25 <#> $4 < 0 %s
              order by 3 desc, 2
              limit %s) as best
      order by 4',
    case when filter is null or filter = '{}' then '' else format(
      'and exists (select 1 from ragpg.chunk
                    where chunk.namespace_id = found.namespace_id
                      and chunk.id = found.chunk_id and %s)', ragpg.filter_sql(filter)) end,
    k)
    using namespace_ids, seeds, bringing, weights;
end $$;

comment on function ragpg.prf_arm(text, integer[], jsonb, integer, bigint[]) is
$$Chunks that share the words which the seeds have in common: ids and scores.

  select * from ragpg.prf_arm('refund', ragpg.namespace_ids('{default}'), null, 10, '{17,4}');

seeds  chunk ids of the best hits of other arms, best first; five make the feedback, see
       ragpg.prf_terms, all are ranked anew$$;
