-- Entities whose name stands in a question. Its words are looked up in runs of up to six, and where it
-- has other signs, as in C++, also what stands between blanks, without the marks around it: such a name
-- needs no capital.
create or replace function ragpg.named_entities(query text, namespace_ids integer[])
returns table (namespace_id integer, entity_id bigint, name text)
language plpgsql stable
-- Its plan is kept: to plan takes longer than to run.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set search_path from current
as $$
#variable_conflict use_column
declare
  folded text := ragpg.fold_text(left(named_entities.query, 2000)) collate pg_c_utf8;
  words text[] := (string_to_array(trim(regexp_replace(lower(folded), '[^[:alnum:]]+', ' ', 'g')), ' '))[1:64];
  signed constant text := '[^[:alnum:][:space:].,;:!?()’''-]';
  keys text[] := '{}';
  signed_keys text[] := '{}';
  run text;
begin
  if words is null or words in ('{}', '{""}') and folded !~ signed then
    return;
  end if;
  -- Word by word: as one query with all pairs it takes nine times as long.
  for i in 1 .. cardinality(words) loop
    run := words[i];
    if length(run) > 1 then
      keys := keys || run;
    end if;
    for j in i + 1 .. least(i + 5, cardinality(words)) loop
      run := run || ' ' || words[j];
      keys := keys || run;
    end loop;
  end loop;
  if folded ~ signed then
    words := (string_to_array(trim(regexp_replace(lower(folded), '[[:space:]]+', ' ', 'g')), ' '))[1:64];
    for i in 1 .. cardinality(words) loop
      run := '';
      for j in i .. least(i + 5, cardinality(words)) loop
        run := run || case when j > i then ' ' else '' end || words[j];
        if run ~ signed then
          signed_keys := signed_keys || array[run, rtrim(run, '.,;:!?'), trim(rtrim(run, '.,;:!?'), '()"“”„«»''’`[]')];
        end if;
      end loop;
    end loop;
    keys := keys || signed_keys;
  end if;
  return query
  select entity.namespace_id, entity.id, entity.name
    from unnest(named_entities.namespace_ids) as owner (id)
   cross join lateral (select known.namespace_id, known.id, known.key, known.name from ragpg.entity as known
                        where known.namespace_id = owner.id and known.key = any (keys) offset 0) as entity
   where entity.key = any (signed_keys) and entity.key ~ '[^[:alnum:] ]' or ragpg.is_named(folded, entity.key)
   order by length(entity.key) desc, entity.id
   limit 20;
end $$;

comment on function ragpg.named_entities(text, integer[]) is
$$The entities that a text names, longest names first, at most 20.

  select * from ragpg.named_entities('Who founded Delta Air Lines?', ragpg.namespace_ids('{default}'));

A name of a single word counts where it is written with a capital, a digit or another sign.$$;
