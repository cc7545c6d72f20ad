-- Exact top-k of weighted terms over a GIN index. MaxScore (Turtle & Flood 1995) in set-sized
-- steps: scan the rarest terms until about a thousand candidates are scored; the k-th score is then
-- a threshold, and one more query finds just the documents that can still beat it. Scoring is one inner product
-- of sparse vectors. Only the twelve rarest terms bring in candidates; all of them score.
create or replace function ragpg.keyword_ranking(
  words text[], counts bigint[], bounds double precision[], namespace_ids integer[], filter jsonb, k integer)
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
set enable_seqscan = off
as $$
declare
  first_candidates constant bigint := 1000;
  -- Stored weights are rounded to four decimals; the bound allows for it, so ties are kept.
  rounding constant double precision := 1e-3;
  weights sparsevec;
  bringing integer;          -- so many terms may bring in candidates
  scanned integer := 0;      -- terms whose documents have all been scored
  upto integer;
  found bigint := 0;
  tier_done boolean := false;
  wanted text;
  seen text;
  narrowed tsquery := ragpg.filter_lexemes(filter);
  step tsquery;
  threshold double precision := 0;
  rest double precision;
  statement text;
  top_namespaces integer[] := '{}';
  top_ids bigint[] := '{}';
  top_scores double precision[] := '{}';
begin
  perform ragpg.check_access(namespace_ids);
  if k is null then
    raise exception 'k cannot be null' using errcode = 'RG005', hint = 'Leave it out, or give a whole number.';
  end if;
  bringing := least(coalesce(cardinality(words), 0), 12);
  if bringing = 0 or k <= 0 or cardinality(namespace_ids) = 0 then
    return;
  end if;
  select ('{' || string_agg(slot.slot || ':' || slot.bound, ',') || '}/536870912')::sparsevec
    into weights
    from (select ragpg.lexeme_slot(term.word) as slot, sum(term.bound) as bound
            from unnest(words, bounds) as term (word, bound)
           group by 1) as slot;

  -- The best so far and the best of this step, ranked again. Ties go to the lower id.
  statement := format(
    'select array_agg(best.namespace_id order by best.score desc, best.chunk_id),
            array_agg(best.chunk_id order by best.score desc, best.chunk_id),
            array_agg(best.score order by best.score desc, best.chunk_id)
       from (select candidate.* from (
               select * from unnest($1, $2, $3) as kept (namespace_id, chunk_id, score)
                union all
               select scored.* from unnest($4) as asked (namespace_id),
                 lateral (select keyword.namespace_id, keyword.chunk_id, -(keyword.bm25 <#> $5) as score
                            from ragpg.chunk_keyword as keyword
                           where keyword.namespace_id = asked.namespace_id
                             and keyword.lexemes @@ $6 %s
                           order by keyword.bm25 <#> $5, keyword.chunk_id
                           limit %s) as scored) as candidate
              order by candidate.score desc, candidate.chunk_id
              limit %2$s) as best',
    case when filter is null or filter = '{}' then '' else format(
      'and exists (select 1 from ragpg.chunk
                    where chunk.namespace_id = keyword.namespace_id
                      and chunk.id = keyword.chunk_id and %s)', ragpg.filter_sql(filter)) end,
    k);

  while scanned < bringing loop
    if threshold = 0 then
      upto := scanned + 1;
      found := found + counts[upto];
      while upto < bringing and found + counts[upto + 1] <= first_candidates loop
        upto := upto + 1;
        found := found + counts[upto];
      end loop;
      if upto = scanned + 1 and counts[upto] > 4 * first_candidates and not tier_done then
        -- A long list: its high-impact part first, it may be enough for a threshold.
        wanted := ragpg.quote_lexeme('^' || words[upto]);
        tier_done := true;
      else
        select string_agg(ragpg.quote_lexeme(word), '|') into wanted from unnest(words[scanned + 1:upto]) as word;
        scanned := upto;
      end if;
    elsif bringing - scanned > 4 and counts[scanned + 1] <= 4 * first_candidates then
      scanned := scanned + 1;
      wanted := ragpg.quote_lexeme(words[scanned]);
    else
      wanted := ragpg.remaining_query(
        words[scanned + 1:bringing], bounds[scanned + 1:bringing], threshold - rounding);
      scanned := bringing;
      exit when wanted = '';
    end if;

    step := wanted::tsquery;
    if seen is not null then step := step && !! seen::tsquery; end if;
    if narrowed is not null then step := narrowed && step; end if;
    execute statement into top_namespaces, top_ids, top_scores
      using top_namespaces, top_ids, top_scores, namespace_ids, weights, step;
    seen := concat_ws('|', seen, wanted);
    top_namespaces := coalesce(top_namespaces, '{}');
    top_ids := coalesce(top_ids, '{}');
    top_scores := coalesce(top_scores, '{}');
    threshold := case when cardinality(top_ids) >= k then top_scores[k] else 0 end;
    select coalesce(sum(bound), 0) into rest from unnest(bounds[scanned + 1:bringing]) as bound;
    exit when rest < threshold - rounding;
  end loop;

  return query
  select 'keyword'::text, hit.namespace_id, hit.chunk_id, hit.rank::integer, hit.score, null::text, 1::double precision
    from unnest(top_namespaces, top_ids, top_scores) with ordinality as hit (namespace_id, chunk_id, score, rank)
   order by hit.rank;
end $$;

comment on function ragpg.keyword_ranking(text[], bigint[], double precision[], integer[], jsonb, integer) is
$$The chunks whose BM25 vectors have the largest inner product with weighted terms, best first.

  select * from ragpg.keyword_ranking('{refund}', '{12}', '{4.5}', ragpg.namespace_ids('{default}'), null, 10);

words   lexemes, rarest first; the first twelve bring in candidates, all of them score
counts  in how many chunks each stands: an estimate is enough, it only steers the scan
bounds  the weight of each, above 0: what it adds to a score at most$$;
