-- What documents are about by their titles; a title that is new to the namespace is looked for in
-- the chunks that exist.
create or replace function ragpg.store_topics(namespace_id integer, documents bigint[])
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := store_topics.namespace_id;
  config regconfig;
  fresh bigint[];
begin
  select namespace.text_search_config::regconfig into config from ragpg.namespace where namespace.id = owner;
  with titled as materialized (
    select document.id, document.title, named.key
      from ragpg.document, ragpg.title_keys(document.title) as named (key)
     where document.namespace_id = owner and document.id = any (documents) and document.title <> '' and named.key <> ''
  ), entity as (
    select made.* from (select array_agg(one.key) as keys, array_agg(one.name) as names
                          from (select titled.key, min(titled.title) as name from titled group by 1 order by 1) as one) as all_of,
           ragpg.upsert_entities(owner, all_of.keys, all_of.names) as made
     where all_of.keys is not null
  ), stored as (
    insert into ragpg.topic (namespace_id, document_id, entity_id)
    select owner, titled.id, entity.id from titled join entity using (key)
    on conflict on constraint topic_pkey do nothing
  ), lexeme as (
    select entity.id, word.lexeme
      from entity, unnest(tsvector_to_array(
             -- The analyser costs a hundred times as much, and finds nothing more in plain words.
             case when entity.key ~ '[^[:alnum:] ]' then ragpg.lexemes(config, entity.key)
                  else to_tsvector(config, entity.key) end)) as word (lexeme)
     where octet_length(word.lexeme) <= 200
  ), phrase as (
    -- Where letters are not of ASCII it is the longest lexeme, as words may not be parted by blanks.
    insert into ragpg.phrase (namespace_id, entity_id, anchor, run, query)
    select owner, one.id, coalesce(one.foreign_lexeme, array_to_string(one.words[1:2], ' ')),
           coalesce(one.foreign_lexeme, array_to_string(one.words[1:8], ' ')), one.query
      from (select entity.id, ragpg.phrase_words(entity.key) as words,
                   (array_agg(lexeme.lexeme order by length(lexeme.lexeme) desc, lexeme.lexeme collate "C")
                      filter (where octet_length(lexeme.lexeme) > length(lexeme.lexeme)))[1] as foreign_lexeme,
                   string_agg(ragpg.quote_lexeme(lexeme.lexeme), '&' order by lexeme.lexeme collate "C")::tsquery as query
              from lexeme join entity using (id)
             group by entity.id, entity.key) as one
     order by one.id
    on conflict on constraint phrase_pkey do nothing
    returning phrase.entity_id
  )
  select array_agg(phrase.entity_id) into fresh from phrase;
  if coalesce(cardinality(fresh), 0) = 0 then
    return;
  elsif cardinality(fresh) <= 1000
     or 10 * cardinality(fresh) < (select count(*) from ragpg.chunk where chunk.namespace_id = owner) then
    perform ragpg.find_mentions(owner, fresh);
  else
    -- To read every chunk once is cheaper.
    update ragpg.phrase set waits = true where phrase.namespace_id = owner and phrase.entity_id = any (fresh);
    perform ragpg.find_waiting(owner);
  end if;
end $$;

comment on function ragpg.store_topics(integer, bigint[]) is
$$Writes the topics of documents from their titles, and who mentions them.

  select ragpg.store_topics(1, '{17}');

A trigger on ragpg.document calls it.$$;
