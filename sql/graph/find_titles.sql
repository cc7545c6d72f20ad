-- Chunks that mention the titles of documents, from both sides: new chunks meet the phrases that
-- exist, new phrases the chunks that exist. The same conditions hold on both, so the order of
-- arrival does not matter. A document's own title is no mention in it. Offset 0 keeps the order of the steps: few rows against large tables, of
-- which the planner may not have heard yet.
create or replace function ragpg.find_titles(namespace_id integer, chunks bigint[] default null, entities bigint[] default null)
returns bigint
language plpgsql
set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  owner integer := find_titles.namespace_id;
  asked tsquery;
  written bigint;
begin
  -- All of them in one scan: what is waiting to enter the index is read by every scan.
  select string_agg(distinct ragpg.quote_lexeme(phrase.anchor), '|')::tsquery into asked
    from unnest(entities) as given (id)
   cross join lateral (select found.anchor from ragpg.phrase as found
                        where found.namespace_id = owner and found.entity_id = given.id offset 0) as phrase;
  with fresh as materialized (
    select phrase.entity_id, phrase.query
      from unnest(entities) as given (id)
     cross join lateral (select found.entity_id, found.query from ragpg.phrase as found
                          where found.namespace_id = owner and found.entity_id = given.id offset 0) as phrase
  ), matched as materialized (
    select keyword.chunk_id, phrase.entity_id
      from unnest(chunks) as given (id)
     cross join lateral (select found.chunk_id, found.lexemes from ragpg.chunk_keyword as found
                          where found.namespace_id = owner and found.chunk_id = given.id offset 0) as keyword
     cross join unnest(tsvector_to_array(keyword.lexemes)) as word (lexeme)
     cross join lateral (select found.entity_id, found.query from ragpg.phrase as found
                          where found.namespace_id = owner and found.anchor = word.lexeme offset 0) as phrase
     where keyword.lexemes @@ phrase.query
     union all
    -- As a join the namespace is not a constant, of which statistics may say that it has no rows.
    select keyword.chunk_id, fresh.entity_id
      from unnest(array[owner]) as asked_of (namespace_id)
     cross join lateral (select found.chunk_id, found.lexemes from ragpg.chunk_keyword as found
                          where found.namespace_id = asked_of.namespace_id and found.lexemes @@ asked
                         offset 0) as keyword
      join fresh on keyword.lexemes @@ fresh.query
  ), named as (
    select text.id as chunk_id, entity.id as entity_id, ragpg.is_named(text.folded, entity.key) as is_named
      from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded, wanted.entities
              from (select matched.chunk_id, array_agg(distinct matched.entity_id) as entities from matched group by 1) as wanted
             cross join lateral (select found.id, found.document_id, found.content from ragpg.chunk as found
                                  where found.namespace_id = owner and found.id = wanted.chunk_id offset 0) as chunk
            offset 0) as text
     cross join unnest(text.entities) as one (id)
     cross join lateral (select found.id, found.key from ragpg.entity as found
                          where found.namespace_id = owner and found.id = one.id offset 0) as entity
     where not exists (select from ragpg.topic where topic.namespace_id = owner
                          and topic.document_id = text.document_id and topic.entity_id = one.id)
    offset 0
  )
  insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin, weight)
  select owner, named.chunk_id, named.entity_id, 'titles', 1 from named where named.is_named
   order by 2, 3
  on conflict on constraint mention_pkey do nothing;
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.find_titles(integer, bigint[], bigint[]) is
$$Notes which of some chunks mention any title, and which chunks mention the titles of some entities.

  select ragpg.find_titles(1, chunks => '{17}');

Storing documents calls it; returns how many mentions are new.$$;
