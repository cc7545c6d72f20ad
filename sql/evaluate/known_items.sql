-- A sample of chunks with the words that tell each from all others: the raw material of queries
-- whose answer is known. Chosen by a hash of the text, so that the same corpus gives the same sample
-- wherever and whenever it was ingested. A text that is there twice is no known item.
create or replace function ragpg.known_items(
  namespace text, items integer default 50, words integer default 12, seed bigint default 1)
returns table (
  source text, chunk_id bigint, start_char integer, end_char integer, content text, terms text[], documents bigint[])
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
  owner constant integer := (ragpg.namespace_ids(array[known_items.namespace]))[1];
  config regconfig;
  total double precision;
begin
  select target.text_search_config::regconfig into config from ragpg.namespace as target where target.id = owner;
  select greatest(coalesce(sum(part.chunks), 0), 1) into total
    from (select kept.chunks from ragpg.namespace_statistics as kept where kept.namespace_id = owner
           union all
          select entry.sign * entry.chunks from ragpg.keyword_log as entry where entry.namespace_id = owner) as part;
  return query
    with sample as materialized (
      -- Only texts that occur once, long enough to be asked for.
      select min(candidate.id) as id,
             hashtextextended(encode(candidate.content_hash, 'hex'), known_items.seed) as turn
        from ragpg.chunk as candidate
       where candidate.namespace_id = owner and octet_length(candidate.content) >= 120
       group by candidate.content_hash
      having count(*) = 1
       order by 2, 1
       limit known_items.items
    ), surface as (
      -- The words as they stand there; a script without blanks in pieces of up to four characters.
      select sample.id, sample.turn, lower(found.match[1] collate pg_c_utf8) as word, count(*) as times, min(found.at) as at
        from sample
        join ragpg.chunk as text on text.namespace_id = owner and text.id = sample.id,
             lateral regexp_matches(
               left(text.content, 20000) collate pg_c_utf8,
               '([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]{1,4}|[[:alnum:]_]*[[:alpha:]][[:alnum:]_]*(?:[.-][[:alnum:]_]+)*)', 'g')
             with ordinality as found (match, at)
       group by 1, 2, 3
    ), analysed as materialized (
      -- Once for each word of the sample, however many chunks have it.
      select word.word, term.lexeme,
             coalesce((select statistics.documents from ragpg.lexeme_statistics as statistics
                        where statistics.namespace_id = owner and statistics.lexeme = term.lexeme), 1) as documents
        from (select distinct surface.word from surface where length(surface.word) between 2 and 40) as word,
             unnest(ragpg.lexemes(config, word.word)) as term
    ), rarest as (
      select distinct on (analysed.word) analysed.word, analysed.lexeme, greatest(analysed.documents, 1) as documents
        from analysed
       order by analysed.word, analysed.documents, analysed.lexeme collate "C"
    ), weighed as (
      -- One word for each stem: the form that stands first.
      select surface.id, surface.turn, (array_agg(surface.word order by surface.at))[1] as word, rarest.documents,
             (1 + ln(sum(surface.times))) * ln(1 + greatest(total - rarest.documents + 0.5, 0.5) / (rarest.documents + 0.5)) as weight,
             min(surface.at) as at
        from surface
        join rarest using (word)
       group by surface.id, surface.turn, rarest.lexeme, rarest.documents
    ), ranked as (
      select weighed.*, row_number() over (partition by weighed.id order by weighed.weight desc, weighed.at) as rank
        from weighed
    )
    select document.source, item.id, item.start_char, item.end_char, item.content, best.terms, best.documents
      from (select ranked.id, ranked.turn, array_agg(ranked.word order by ranked.rank) as terms,
                   array_agg(ranked.documents order by ranked.rank) as documents
              from ranked
             where ranked.rank <= known_items.words
             group by 1, 2) as best
      join ragpg.chunk as item on item.namespace_id = owner and item.id = best.id
      join ragpg.document on document.namespace_id = owner and document.id = item.document_id
     order by best.turn, item.id;
end $$;

comment on function ragpg.known_items(text, integer, integer, bigint) is
$$Sampled chunks with their most telling words, to make queries from whose answer is known.

  select source, terms from ragpg.known_items('handbook', items => 5);

items  how many chunks; fewer where the namespace has fewer texts that occur only once
words  most words of a chunk, best tf * idf first; documents says how many chunks have each
seed   another one, another sample; the same seed and corpus give the same sample$$;
