-- Relevance feedback without a judge, in the manner of RM3 (Lavrenko & Croft 2001; Abdul-Jaleel et
-- al. 2004): the words that the best chunks of a first pass have in common are mixed into the query.
-- The model of a chunk is its stored BM25 vector; a chunk's vote is 1/place; a word's gain is the
-- sum of its votes times idf. So no text is read: five narrow rows and fifty counts.
create or replace function ragpg.prf_terms(
  query text, namespace_ids integer[], seeds bigint[], terms integer default 15, share double precision default 0.5)
returns table (word text, documents bigint, weight double precision, asked boolean)
language sql stable parallel safe
begin atomic
  with seed as materialized (
    -- A very long chunk speaks of everything, and costs as much to read.
    select given.place, keyword.lexemes, keyword.bm25::text as entries
      from unnest(seeds[1:5]) with ordinality as given (id, place)
      join ragpg.chunk_keyword as keyword
        on keyword.namespace_id = any (namespace_ids) and keyword.chunk_id = given.id
     where keyword.length <= 4000
  ), slot as materialized (
    select split_part(entry, ':', 1)::integer as slot, sum(split_part(entry, ':', 2)::double precision / seed.place) as votes
      from seed, string_to_table(split_part(substr(seed.entries, 2), '}', 1), ',') as entry
     where entry <> ''
     group by 1
     order by 2 desc, 1
     limit 50
  ), common as materialized (
    select min(lexeme.lexeme) as lexeme, slot.votes
      from slot
      join (select distinct held.lexeme
              from seed, unnest(seed.lexemes) as held
             where left(held.lexeme, 1) not in ('^', '@')) as lexeme on ragpg.lexeme_slot(lexeme.lexeme) = slot.slot
     group by slot.slot, slot.votes
  ), counted as materialized (
    select common.lexeme, common.votes,
           (select sum(greatest(lexeme_statistics.documents, 0))::bigint
              from ragpg.lexeme_statistics
             where lexeme_statistics.lexeme = common.lexeme
               and lexeme_statistics.namespace_id = any (namespace_ids)) as documents
      from common
  ), total as (
    select greatest(coalesce(sum(namespace_statistics.chunks), 0), 1)::double precision as chunks
      from ragpg.namespace_statistics
     where namespace_statistics.namespace_id = any (namespace_ids)
  ), feedback as (
    select counted.lexeme, counted.documents,
           counted.votes * ln(1 + (greatest(total.chunks - counted.documents, 0) + 0.5) / (counted.documents + 0.5)) as gain
      from counted, total
     where counted.documents > 0
     order by 3 desc, 1
     limit prf_terms.terms
  ), original as materialized (
    select term.word, term.documents, term.bound from ragpg.keyword_terms(query, namespace_ids) as term
  ), scale as (
    select coalesce(nullif((select sum(original.bound) from original), 0), 1) as asked,
           nullif((select sum(feedback.gain) from feedback), 0) as gained
  )
  select coalesce(original.word, feedback.lexeme), coalesce(original.documents, feedback.documents),
         coalesce((1 - share) * original.bound, 0) + coalesce(share * feedback.gain * scale.asked / scale.gained, 0),
         original.word is not null
    from original
    full join feedback on feedback.lexeme = original.word, scale
   order by 3 desc, 1;
end;

comment on function ragpg.prf_terms(text, integer[], bigint[], integer, double precision) is
$$The terms of a query and those of its best chunks, weighted: what ragpg.prf_arm() searches for.

  select * from ragpg.prf_terms('refund', ragpg.namespace_ids('{default}'), '{17,4}');

seeds  chunk ids of the first pass, best first; five count
terms  so many feedback terms
share  their part of the whole weight, 0 to 1
asked  whether the query has the word itself$$;
