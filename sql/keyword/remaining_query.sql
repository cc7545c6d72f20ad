-- What a document must match, among the terms not yet scanned, to beat the k-th score so far.
create or replace function ragpg.remaining_query(
  words text[], bounds double precision[], need double precision)
returns text
language plpgsql immutable strict parallel safe
as $$
declare
  items text[];
  limits double precision[];
  found text;
  rest double precision;
  place integer := 0;
begin
  if cardinality(words) > 8 then
    -- MaxScore: the first terms, as long as the others alone could still reach the threshold.
    select sum(bound) into rest from unnest(bounds) as bound;
    while place < cardinality(words) and rest >= need loop
      place := place + 1;
      rest := rest - bounds[place];
    end loop;
    return (select coalesce(string_agg(ragpg.quote_lexeme(word), '|'), '')
              from unnest(words[1:place]) as word);
  end if;
  if cardinality(words) <= 3 then
    -- Two impact tiers a term: below the mark ^word its share is at most 0.62.
    select array_agg(item.lexeme order by item.bound desc, item.lexeme),
           array_agg(item.bound order by item.bound desc, item.lexeme)
      into items, limits
      from unnest(words, bounds) as term (word, bound),
           lateral (values (ragpg.quote_lexeme(term.word), term.bound * 0.62),
                           (ragpg.quote_lexeme('^' || term.word), term.bound * 0.38)) as item (lexeme, bound);
  else
    select array_agg(ragpg.quote_lexeme(term.word) order by term.place),
           array_agg(term.bound order by term.place)
      into items, limits
      from unnest(words, bounds) with ordinality as term (word, bound, place);
  end if;
  found := ragpg.threshold_query(items, limits, need);
  if found = 'T' then
    -- Where everything can, anything with one of the terms can.
    select string_agg(ragpg.quote_lexeme(word), '|') into found from unnest(words) as word;
  end if;
  return found;
end $$;

comment on function ragpg.remaining_query(text[], double precision[], double precision) is
$$The tsquery of documents that can still score more than need from these terms; '' if none can.

  select ragpg.remaining_query('{apple,pear}', '{3,2}', 2.5);$$;
