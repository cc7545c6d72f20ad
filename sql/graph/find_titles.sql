-- The titles that new chunks name. Two words in a row are asked whether a title begins with them, and
-- only where one does the words that follow: by equality, so that a thousand titles with one beginning
-- cost no more than one. Offset 0 keeps the order of the steps: few rows against large tables, of
-- which the planner may not have heard yet. Then it may read a namespace by any index that begins with
-- it: chunks are asked for by array, so that this happens once and not for each of them.
create or replace function ragpg.find_titles(namespace_id integer, chunks bigint[], waiting boolean default false)
returns bigint
language plpgsql
set search_path from current
-- To plan takes longer than to run.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- Only where a step looks up rows by index, which has no other way.
set enable_nestloop = off
set jit = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  owner integer := find_titles.namespace_id;
  few constant integer := 300;
  entities bigint[];
  named_chunks bigint[];
  named_entities bigint[];
  written bigint := 0;
begin
  select array_agg(found.entity_id) into entities
    from (select phrase.entity_id from ragpg.phrase
           where phrase.namespace_id = owner and (phrase.waits or not find_titles.waiting)
           limit few + 1) as found;
  for portion in 0 .. (coalesce(cardinality(find_titles.chunks), 0) - 1) / 500 loop
    exit when coalesce(cardinality(find_titles.chunks), 0) = 0 or entities is null;
    if cardinality(entities) <= few then
      written := written + ragpg.find_few_titles(owner, find_titles.chunks[500 * portion + 1 : 500 * portion + 500], entities);
      continue;
    end if;
    with content as materialized (
      -- Words as ragpg.phrase_words() makes them of keys.
      select text.id, text.document_id, text.folded, octet_length(text.folded) = length(text.folded) as plain,
             string_to_array(text.words, ' ') as spelled, string_to_array(lower(text.words), ' ') as words
        from (select part.id, part.document_id, part.folded,
                     trim(regexp_replace(part.folded collate "C", '[^A-Za-z0-9]+', ' ', 'g')) as words
                from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded
                        from ragpg.chunk
                       where chunk.namespace_id = owner
                         and chunk.id = any (find_titles.chunks[500 * portion + 1 : 500 * portion + 500])
                      offset 0) as part
              offset 0) as text
    ), pair as materialized (
      select content.id as chunk_id, pair.place, pair.former || ' ' || pair.latter as anchor
        from content, unnest(content.words, content.words[2:]) with ordinality as pair (former, latter, place)
       where pair.latter is not null
    ), begun as materialized (
      select distinct phrase.anchor from ragpg.phrase
       where phrase.namespace_id = owner and phrase.anchor = any (array(select pair.anchor from pair))
    ), run as materialized (
      select start.chunk_id, array_to_string(content.words[start.place : start.place + size.words - 1], ' ') as run
        from (select pair.chunk_id, pair.place from begun join pair using (anchor) offset 0) as start
        join content on content.id = start.chunk_id
       cross join generate_series(2, least(8, cardinality(content.words) - start.place + 1)) as size (words)
       union
      -- A single word is a name where it is not in small letters.
      select content.id, single.word from content, unnest(content.words, content.spelled) as single (word, spelled)
       where single.word <> single.spelled or single.word < ':'
       union
      select content.id, one.lexeme
        from content
        join ragpg.chunk_keyword as keyword
          on keyword.namespace_id = owner and keyword.chunk_id = content.id
         and keyword.chunk_id = any (array(select content.id from content where not content.plain))
       cross join unnest(tsvector_to_array(keyword.lexemes)) as one (lexeme)
       where not content.plain and octet_length(one.lexeme) > length(one.lexeme)
    ), phrase as materialized (
      select found.run, found.entity_id, found.query, entity.key
        from (select phrase.run, phrase.entity_id, phrase.query from ragpg.phrase
               where phrase.namespace_id = owner and phrase.run = any (array(select run.run from run))
                 and (phrase.waits or not find_titles.waiting) offset 0) as found
       cross join lateral (select entity.key from ragpg.entity
                            where entity.namespace_id = owner and entity.id = found.entity_id offset 0) as entity
    ), hinted as materialized (
      select run.chunk_id, array_agg(phrase.entity_id) as entities, array_agg(phrase.query) as queries, array_agg(phrase.key) as keys
        from run join phrase using (run)
       group by 1
    ), named as (
      select content.id as chunk_id, one.id as entity_id, ragpg.is_named(content.folded, one.key) as is_named
        from hinted
        join content on content.id = hinted.chunk_id
        join (select found.chunk_id, found.lexemes || ''::tsvector as lexemes from ragpg.chunk_keyword as found
               where found.namespace_id = owner and found.chunk_id = any (array(select hinted.chunk_id from hinted))
              offset 0) as keyword on keyword.chunk_id = content.id
       cross join unnest(hinted.entities, hinted.queries, hinted.keys) as one (id, query, key)
       where keyword.lexemes @@ one.query
         and not exists (select from ragpg.topic where topic.namespace_id = owner
                            and topic.document_id = content.document_id and topic.entity_id = one.id offset 0)
      offset 0
    )
    select array_agg(named.chunk_id), array_agg(named.entity_id) into named_chunks, named_entities
      from named where named.is_named;
    if named_chunks is not null then
      written := written + ragpg.note_titles(owner, named_chunks, named_entities);
    end if;
  end loop;
  return written;
end $$;

comment on function ragpg.find_titles(integer, bigint[], boolean) is
$$Notes which titles some chunks mention; returns how many mentions are new.

  select ragpg.find_titles(1, '{17}');

waiting  look only for titles that wait, see ragpg.find_waiting()

Storing documents calls it. A document's own title is no mention in it.$$;
