-- Chunks that mention the titles of documents, from both sides: new chunks meet the phrases that
-- exist, new phrases the chunks that exist. The same conditions hold on both, so the order of
-- arrival does not matter. A document's own title is no mention in it. Offset 0 keeps the order of
-- the steps: few rows against large tables, of which the planner may not have heard yet.
create or replace function ragpg.find_titles(namespace_id integer, chunks bigint[] default null, entities bigint[] default null)
returns bigint
language plpgsql
set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  owner integer := find_titles.namespace_id;
  given_chunks bigint[] := find_titles.chunks;
  given_entities bigint[] := find_titles.entities;
  asked tsquery;
  made bigint;
  written bigint := 0;
begin
  if cardinality(given_entities) > 1000 then
    -- To read every chunk once is cheaper, and a query of so many words is not legal.
    given_chunks := array(select chunk.id from ragpg.chunk where chunk.namespace_id = owner order by chunk.id);
    given_entities := null;
  end if;
  -- All of them in one scan: what is waiting to enter the index is read by every scan. By the rarest
  -- word of each, and the next where that is not rare; the counts may be old, which costs time only.
  select string_agg(distinct phrase.words, '|')::tsquery into asked
    from unnest(given_entities) as given (id)
   cross join lateral (
     select '(' || string_agg(word.quoted, '&' order by word.quoted collate "C") || ')' as words
       from (select part.quoted, coalesce(known.documents, 0) as documents,
                    row_number() over (order by coalesce(known.documents, 0), length(part.quoted) desc, part.quoted collate "C") as place,
                    min(coalesce(known.documents, 0)) over () as fewest
               from (select found.query from ragpg.phrase as found
                      where found.namespace_id = owner and found.entity_id = given.id offset 0) as found
              cross join unnest(string_to_array(found.query::text, ' & ')) as part (quoted)
               left join lateral (select statistics.documents from ragpg.lexeme_statistics as statistics
                                   where statistics.namespace_id = owner
                                     and statistics.lexeme = replace(replace(substr(part.quoted, 2, length(part.quoted) - 2), '''''', ''''), '\\', '\')
                                  offset 0) as known on true) as word
      where word.place = 1 or word.place = 2 and word.fewest > 50) as phrase;
  -- As a join the namespace is not a constant, of which statistics may say that it has no rows. What
  -- a tsvector and a text are asked often is unpacked and folded once.
  with fresh as materialized (
    select phrase.entity_id, phrase.query, phrase.key
      from unnest(given_entities) as given (id)
     cross join lateral (select found.entity_id, found.query, entity.key
                           from ragpg.phrase as found
                           join ragpg.entity on entity.namespace_id = owner and entity.id = found.entity_id
                          where found.namespace_id = owner and found.entity_id = given.id offset 0) as phrase
  ), matched as materialized (
    select keyword.chunk_id, array_agg(fresh.entity_id) as entities, array_agg(fresh.key) as keys
      from unnest(array[owner]) as asked_of (namespace_id)
     cross join lateral (select found.chunk_id, found.lexemes || ''::tsvector as lexemes from ragpg.chunk_keyword as found
                          where found.namespace_id = asked_of.namespace_id and found.lexemes @@ asked
                         offset 0) as keyword
      join fresh on keyword.lexemes @@ fresh.query
     group by 1
  ), named as (
    select text.id as chunk_id, one.id as entity_id, ragpg.is_named(text.folded, one.key) as is_named
      from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded, matched.entities, matched.keys
              from matched
             cross join lateral (select found.id, found.document_id, found.content from ragpg.chunk as found
                                  where found.namespace_id = owner and found.id = matched.chunk_id offset 0) as chunk
            offset 0) as text
     cross join unnest(text.entities, text.keys) as one (id, key)
     where not exists (select from ragpg.topic where topic.namespace_id = owner
                          and topic.document_id = text.document_id and topic.entity_id = one.id)
    offset 0
  )
  insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin, weight)
  select owner, named.chunk_id, named.entity_id, 'titles', 1 from named where named.is_named and asked is not null
   order by 2, 3
  on conflict on constraint mention_pkey do nothing;
  get diagnostics written = row_count;

  for portion in 0 .. (coalesce(cardinality(given_chunks), 0) - 1) / 500 loop
    exit when cardinality(given_chunks) is null or cardinality(given_chunks) = 0;
    with content as materialized (
      -- Words as store_topics() makes anchors of them: ASCII letters and digits, in a row.
      select text.id, text.document_id, text.folded, octet_length(text.folded) = length(text.folded) as plain,
             string_to_array(text.words, ' ') as spelled, string_to_array(lower(text.words), ' ') as words
        from (select part.id, part.document_id, part.folded,
                     trim(regexp_replace(part.folded collate "C", '[^A-Za-z0-9]+', ' ', 'g')) as words
                from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded
                        from unnest(given_chunks[500 * portion + 1 : 500 * portion + 500]) as given (id)
                       cross join lateral (select found.id, found.document_id, found.content from ragpg.chunk as found
                                            where found.namespace_id = owner and found.id = given.id offset 0) as chunk
                      offset 0) as part
              offset 0) as text
    ), word as materialized (
      select content.id as chunk_id, pair.former || ' ' || pair.latter as anchor
        from content, unnest(content.words, content.words[2:]) as pair (former, latter)
       where pair.latter is not null
       union all
      -- A single word is a name where it is not in small letters.
      select content.id, single.word from content, unnest(content.words, content.spelled) as single (word, spelled)
       where single.word <> single.spelled or single.word < ':'
       union all
      select content.id, one.lexeme
        from content
       cross join lateral (select found.lexemes from ragpg.chunk_keyword as found
                            where found.namespace_id = owner and found.chunk_id = content.id offset 0) as keyword
       cross join unnest(tsvector_to_array(keyword.lexemes)) as one (lexeme)
       where not content.plain and octet_length(one.lexeme) > length(one.lexeme)
    ), phrase as materialized (
      select found.anchor, found.entity_id, found.query, entity.key
        from (select phrase.anchor, phrase.entity_id, phrase.query from ragpg.phrase
               where phrase.namespace_id = owner and phrase.anchor = any (array(select distinct word.anchor from word)) offset 0) as found
       cross join lateral (select entity.key from ragpg.entity
                            where entity.namespace_id = owner and entity.id = found.entity_id offset 0) as entity
    ), hinted as materialized (
      select chunk_id, array_agg(entity_id) as entities, array_agg(query) as queries, array_agg(key) as keys
        from (select distinct word.chunk_id, phrase.entity_id, phrase.query, phrase.key from word join phrase using (anchor)) as one
       group by 1
    ), named as (
      select content.id as chunk_id, one.id as entity_id, ragpg.is_named(content.folded, one.key) as is_named
        from hinted
        join content on content.id = hinted.chunk_id
       cross join lateral (select found.lexemes || ''::tsvector as lexemes from ragpg.chunk_keyword as found
                            where found.namespace_id = owner and found.chunk_id = content.id offset 0) as keyword
       cross join unnest(hinted.entities, hinted.queries, hinted.keys) as one (id, query, key)
       where keyword.lexemes @@ one.query
         and not exists (select from ragpg.topic where topic.namespace_id = owner
                            and topic.document_id = content.document_id and topic.entity_id = one.id)
      offset 0
    )
    insert into ragpg.mention (namespace_id, chunk_id, entity_id, origin, weight)
    select owner, named.chunk_id, named.entity_id, 'titles', 1 from named where named.is_named
     order by 2, 3
    on conflict on constraint mention_pkey do nothing;
    get diagnostics made = row_count;
    written := written + made;
  end loop;
  return written;
end $$;

comment on function ragpg.find_titles(integer, bigint[], bigint[]) is
$$Notes which of some chunks mention any title, and which chunks mention the titles of some entities.

  select ragpg.find_titles(1, chunks => '{17}');

Storing documents calls it; returns how many mentions are new.$$;
