-- tf * idf with the marks of the keyword index as tf: '^word' is a word that the chunk stresses. Terms
-- that occur once join nothing, terms of more than max_chunks chunks say little: both stay out, so
-- that no term brings together more than that many. Words and their counts are joined by hash: on
-- tables that were never analysed the planner expects a handful of rows, and a nested loop over those
-- read all words of the namespace once a lexeme.
create or replace function ragpg.salient_terms(
  namespace_id integer, documents bigint[] default null, max_chunks integer default 50, k integer default 10)
returns table (document_id bigint, term text, weight double precision)
language sql stable
set enable_nestloop = off
begin atomic
  with total as (
    select greatest(namespace_statistics.chunks, 1)::double precision as chunks from ragpg.namespace_statistics
     where namespace_statistics.namespace_id = salient_terms.namespace_id
  ), weighed as (
    select word.document_id, statistics.lexeme,
           ln(1 + (total.chunks - statistics.documents + 0.5) / (statistics.documents + 0.5))
           * case when bool_or(word.stressed) then 1 else 0.5 end as weight
      from (select chunk.document_id, ltrim(one.lexeme, '^') collate "C" as lexeme, one.lexeme ^@ '^' as stressed
              from ragpg.chunk
              join ragpg.chunk_keyword as keyword on keyword.namespace_id = chunk.namespace_id and keyword.chunk_id = chunk.id
             cross join unnest(tsvector_to_array(keyword.lexemes)) as one (lexeme)
             where chunk.namespace_id = salient_terms.namespace_id
               and (salient_terms.documents is null or chunk.document_id = any (salient_terms.documents))
            offset 0) as word
      join ragpg.lexeme_statistics as statistics on statistics.namespace_id = salient_terms.namespace_id and statistics.lexeme = word.lexeme
     cross join total
     where statistics.documents >= 2 and statistics.documents <= max_chunks and length(statistics.lexeme) > 2
     group by 1, 2, total.chunks, statistics.documents
  )
  select ranked.document_id, ranked.lexeme, ranked.weight
    from (select weighed.*, row_number() over (partition by weighed.document_id
                                               order by weighed.weight desc, weighed.lexeme collate "C") as place from weighed) as ranked
   where ranked.place <= k;
end;

comment on function ragpg.salient_terms(integer, bigint[], integer, integer) is
$$The rare terms that stand for documents, as of the BM25 statistics.

  select * from ragpg.salient_terms(1, '{17}');

documents   ids; null for all
max_chunks  terms that more chunks have are left out
k           so many terms a document$$;
