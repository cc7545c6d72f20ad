-- Length, BM25 vector and lexemes of analysed text. BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = 0.75:
-- a vector of tf / (tf + k1 * (1 - b + b * length / average_length)), so that the inner product
-- with a query's idf weights is the score. Words of the breadcrumb count three times.
-- Lexemes carry marks for the index: '^word' where the saturated tf is 0.62 or more (an impact
-- tier, see keyword_arm), '@key=value' for scalar metadata, '@*' where there was too much of it.
create or replace function ragpg.weighted_row(
  analysed tsvector, metadata jsonb, average_length double precision,
  out length real, out bm25 sparsevec, out lexemes tsvector)
language sql immutable parallel safe
begin atomic
  with term as (
    -- A sparse vector holds at most 16,000 entries and a tsvector 1 MB: the first words win.
    select word.lexeme,
           coalesce(cardinality(word.weights) + 2 * cardinality(array_positions(word.weights, 'A')), 1)
           ::double precision as tf
      from unnest(weighted_row.analysed) as word
     where octet_length(word.lexeme) <= 200
     order by word.positions[1] nulls first, word.lexeme
     limit 12000
  ), total as (
    select coalesce(sum(term.tf), 0) as length from term
  ), weighted as (
    select term.lexeme,
           term.tf / (term.tf + 1.2 * (0.25 + 0.75 * total.length / average_length)) as weight
      from term, total
  ), slot as (
    select ragpg.lexeme_slot(weighted.lexeme) as slot, max(weighted.weight) as weight
      from weighted
     group by 1
  )
  select (select total.length::real from total),
         coalesce((select '{' || string_agg(slot.slot || ':' || (round(slot.weight * 10000) / 10000)::real, ',')
                          || '}/536870912' from slot),
                  '{}/536870912')::sparsevec,
         coalesce((select array_to_tsvector(
                            array_agg(weighted.lexeme)
                            || coalesce(array_agg('^' || weighted.lexeme) filter (where weighted.weight >= 0.62), '{}'))
                     from weighted), ''::tsvector)
         || array_to_tsvector(ragpg.metadata_lexemes(metadata));
end;

comment on function ragpg.weighted_row(tsvector, jsonb, double precision) is
$$What ragpg.keyword_row() makes of the search terms of a chunk.

  select * from ragpg.weighted_row(ragpg.content_lexemes('english', 'Run make.'), '{"year": 2024}', 100);

average_length  of the chunks of the namespace, in weighted words; see ragpg.namespace$$;
