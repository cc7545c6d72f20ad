-- The keyword row of a chunk under another average length, from the row itself: its text need not be
-- analysed again. A weight is tf / (tf + norm) with the norm of the old average, so that tf = weight
-- * norm / (1 - weight), to the nearest integer; the length is the sum of all. Where rounding could
-- lead astray, where two words share a slot and where the row was written under an average that is
-- not the one given, that sum is missed or the error too large: then bm25 is null, and the text
-- has to say (keyword_row).
create or replace function ragpg.rescaled_row(
  length real, bm25 sparsevec, lexemes tsvector, former double precision, latest double precision,
  out bm25 sparsevec, out lexemes tsvector)
language sql immutable parallel safe
-- Otherwise Postgres 18 plans it anew for every row, which costs four times what the row does.
set plan_cache_mode = force_generic_plan
begin atomic
  with norm as (
    select 1.2 * (0.25 + 0.75 * rescaled_row.length::double precision / former) as old,
           1.2 * (0.25 + 0.75 * rescaled_row.length::double precision / latest) as new
  ), kept as (
    select split_part(pair.entry, ':', 1) as slot, split_part(pair.entry, ':', 2)::double precision as weight
      from string_to_table(btrim(split_part(rescaled_row.bm25::text, '/', 1), '{}'), ',') as pair (entry)
     where pair.entry <> ''
    -- Offset 0: worked out once, not once for every use.
    offset 0
  ), counted as (
    select kept.slot, norm.old, norm.new, round(kept.weight * norm.old / (1 - kept.weight)) as tf
      from norm, kept
     -- Weights are kept to four decimals; half of the last one must be less than half a word.
     where 0.00005 * norm.old < 0.4 * (1 - kept.weight) ^ 2
    offset 0
  ), weighted as (
    select counted.slot, counted.tf, counted.tf / (counted.tf + counted.new) as weight,
           counted.tf / (counted.tf + counted.old) >= 0.62 as was_high
      from counted
    offset 0
  ), whole as (
    select coalesce(sum(weighted.tf), 0) = rescaled_row.length as told,
           '{' || coalesce(string_agg(weighted.slot || ':' || (round(weighted.weight * 10000) / 10000)::real, ','), '')
               || '}/536870912' as vector,
           array_agg(weighted.slot::integer) filter (where weighted.weight >= 0.62 and not weighted.was_high) as risen,
           array_agg(weighted.slot::integer) filter (where weighted.weight < 0.62 and weighted.was_high) as fallen
      from weighted
  )
  select case when whole.told then whole.vector::sparsevec end,
         case when not whole.told then null
              when whole.risen is not null then
                rescaled_row.lexemes || (
                  select array_to_tsvector(array_agg('^' || word.lexeme))
                    from unnest(rescaled_row.lexemes) as word
                   where word.lexeme !~ '^[@^]' and ragpg.lexeme_slot(word.lexeme) = any (whole.risen))
              when whole.fallen is not null then
                ts_delete(rescaled_row.lexemes, (
                  select array_agg('^' || word.lexeme)
                    from unnest(rescaled_row.lexemes) as word
                   where word.lexeme !~ '^[@^]' and ragpg.lexeme_slot(word.lexeme) = any (whole.fallen)))
              else rescaled_row.lexemes end
    from whole;
end;

comment on function ragpg.rescaled_row(real, sparsevec, tsvector, double precision, double precision) is
$$BM25 vector and lexemes of a keyword row under another average length; both null where only the
text can tell.

  select fresh.* from ragpg.chunk_keyword as row,
         ragpg.rescaled_row(row.length, row.bm25, row.lexemes, 100, 120) as fresh;

former  average length that the row was written under
latest  average length that it is to have$$;
