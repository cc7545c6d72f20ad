-- The chunks that name new titles: by all words of each in the keyword index, a title a scan. Several
-- titles in one scan have every word of all of them asked of each row that holds one, which takes nine
-- times as long. A title of words that are common together would have thousands of chunks read; it
-- waits for the analysis.
create or replace function ragpg.find_mentions(namespace_id integer, entities bigint[], at_most integer default 200)
returns bigint
language plpgsql
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- Only where a step looks up rows by index, which has no other way.
set enable_nestloop = off
set jit = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  owner integer := find_mentions.namespace_id;
  wanted bigint[] := find_mentions.entities;
  common bigint[];
  hinted_chunks bigint[];
  hinted_entities bigint[];
  hinted_keys text[];
begin
  -- As if words were strewn at random; the counts may be old, which costs time or patience only.
  common := array(
    select given.id
      from unnest(wanted) as given (id)
      join ragpg.namespace_statistics as total on total.namespace_id = owner and total.chunks > find_mentions.at_most
     cross join lateral (
       select exp(sum(ln(least(coalesce(known.documents, 0) + 0.5, total.chunks) / total.chunks))) as share
         from (select found.query from ragpg.phrase as found
                where found.namespace_id = owner and found.entity_id = given.id offset 0) as found
        cross join unnest(string_to_array(found.query::text, ' & ')) as word (quoted)
         left join lateral (select statistics.documents from ragpg.lexeme_statistics as statistics
                             where statistics.namespace_id = owner
                               and statistics.lexeme = replace(replace(substr(word.quoted, 2, length(word.quoted) - 2), '''''', ''''), '\\', '\')
                            offset 0) as known on true) as guess
     where guess.share * total.chunks > find_mentions.at_most);
  if cardinality(common) > 0 then
    update ragpg.phrase set waits = true where phrase.namespace_id = owner and phrase.entity_id = any (common);
    wanted := array(select given.id from unnest(wanted) as given (id) where given.id <> all (common));
  end if;
  -- As a join the namespace is not a constant, of which statistics may say that it has no rows.
  with fresh as materialized (
    select found.entity_id, found.query, entity.key
      from ragpg.phrase as found
      join ragpg.entity on entity.namespace_id = owner and entity.id = found.entity_id and entity.id = any (wanted)
     where found.namespace_id = owner and found.entity_id = any (wanted)
  )
  select array_agg(keyword.chunk_id), array_agg(fresh.entity_id), array_agg(fresh.key)
    into hinted_chunks, hinted_entities, hinted_keys
    from fresh
   cross join unnest(array[owner]) as asked_of (namespace_id)
   cross join lateral (select found.chunk_id from ragpg.chunk_keyword as found
                        where found.namespace_id = asked_of.namespace_id and found.lexemes @@ fresh.query
                       offset 0) as keyword;
  return ragpg.check_titles(owner, hinted_chunks, hinted_entities, hinted_keys);
end $$;

comment on function ragpg.find_mentions(integer, bigint[], integer) is
$$Notes which chunks mention the titles that some entities stand for; returns how many mentions are new.

  select ragpg.find_mentions(1, '{17}');

at_most  titles whose words presumably stand together in more chunks wait, see ragpg.find_waiting();
         null lets none wait

Storing documents calls it.$$;
