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
    insert into ragpg.phrase (namespace_id, entity_id, anchor, query)
    select owner, lexeme.id, (array_agg(lexeme.lexeme order by length(lexeme.lexeme) desc, lexeme.lexeme collate "C"))[1],
           string_agg(ragpg.quote_lexeme(lexeme.lexeme), '&' order by lexeme.lexeme collate "C")::tsquery
      from lexeme
     group by lexeme.id
     order by lexeme.id
    on conflict on constraint phrase_pkey do nothing
    returning phrase.entity_id
  )
  select array_agg(phrase.entity_id) into fresh from phrase;
  -- In parts: a query of twenty thousand words is deeper than the server's stack.
  for part in 0..(coalesce(cardinality(fresh), 0) - 1) / 2000 loop
    perform ragpg.find_titles(owner, entities => fresh[part * 2000 + 1:(part + 1) * 2000]);
  end loop;
end $$;

comment on function ragpg.store_topics(integer, bigint[]) is
$$Writes the topics of documents from their titles, and who mentions them.

  select ragpg.store_topics(1, '{17}');

A trigger on ragpg.document calls it.$$;
