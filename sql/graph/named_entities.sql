-- Entities whose name stands in a question: by the phrases of titles, and by the names that
-- extractors gave. Words are looked up in runs of up to six.
create or replace function ragpg.named_entities(query text, namespace_ids integer[])
returns table (namespace_id integer, entity_id bigint, name text)
language sql stable
begin atomic
  with folded as (
    select ragpg.fold_text(left(query, 2000)) as query
  ), word as (
    select part.word, part.place
      from folded, string_to_table(trim(regexp_replace(lower(folded.query collate pg_c_utf8), '[^[:alnum:]]+', ' ', 'g')), ' ')
             with ordinality as part (word, place)
     limit 64
  ), run as (
    select distinct string_agg(word.word, ' ') over (partition by starts.place order by word.place) collate "C" as key
      from word as starts
      join word on word.place between starts.place and starts.place + 5
     where octet_length(starts.word) > 0
  )
  select entity.namespace_id, entity.id, entity.name
    from run
    join ragpg.entity on entity.namespace_id = any (namespace_ids) and entity.key = run.key
    cross join folded
   where length(run.key) > 1 and ragpg.is_named(folded.query, run.key)
   order by length(entity.key) desc, entity.id
   limit 20;
end;

comment on function ragpg.named_entities(text, integer[]) is
$$The entities that a text names, longest names first, at most 20.

  select * from ragpg.named_entities('Who founded Delta Air Lines?', ragpg.namespace_ids('{default}'));

A name of a single word counts where it is written with a capital or a digit.$$;
