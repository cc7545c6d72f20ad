-- The arms of a search with their options, in the order in which they run.
create or replace function ragpg.arm_options(arms jsonb default null)
returns table (arm text, weight double precision, k integer, min_score double precision, function regproc, hops integer)
language plpgsql stable parallel safe
as $$
declare
  defaults constant jsonb := '{"vector":   {"weight": 1.0, "k": 50},
                               "keyword":  {"weight": 1.0, "k": 50},
                               "metadata": {"weight": 0.05, "k": 50},
                               "prf":      {"weight": 0.1, "k": 50},
                               "graph":    {"weight": 0.25, "k": 10, "hops": 1},
                               "sentence": {"weight": 0.15, "k": 50}}';
  -- Runs where it is asked for by name.
  off constant text[] := '{prf}';
  chosen jsonb := coalesce(arms, '{}');
  entry record;
  wrong text;
begin
  if jsonb_typeof(chosen) = 'array' then
    -- A list: these and no others.
    select jsonb_object_agg(known.arm, false) || coalesce((select jsonb_object_agg(item, '{}'::jsonb)
             from jsonb_array_elements_text(chosen) as item), '{}')
      into chosen from jsonb_object_keys(defaults) as known (arm);
  elsif jsonb_typeof(chosen) <> 'object' then
    raise exception 'arms: expected an object or a list, got %', arms using errcode = 'RG005';
  end if;
  for entry in select * from jsonb_each(chosen) as given order by given.key collate "C" loop
    continue when entry.value in ('false', 'true') and defaults ? entry.key;
    if jsonb_typeof(entry.value) <> 'object' or not (defaults ? entry.key or entry.value ? 'function')
       or entry.key = 'fusion' then
      raise exception 'arms: "%": % is neither a known arm nor a registered function', entry.key, entry.value
        using errcode = 'RG005', hint = 'Arms are vector, keyword, metadata, prf, graph, sentence, or your own as {"name": {"function": "schema.name"}}.';
    end if;
    select option.key into wrong from jsonb_each(entry.value) as option
     where option.key not in ('weight', 'k', 'min_score', 'function', 'hops')
        or option.key = 'hops' and (entry.key <> 'graph' or entry.value ? 'function')
        or (option.key = 'function') <> (jsonb_typeof(option.value) = 'string')
        or option.key <> 'function' and jsonb_typeof(option.value) not in ('number', 'null')
        or case when jsonb_typeof(option.value) = 'number' then
             case option.key when 'k' then option.value::numeric not between 0 and 2147483647
                                           or option.value::numeric <> trunc(option.value::numeric)
                             when 'hops' then option.value::numeric not in (1, 2)
                             when 'weight' then option.value::numeric not between 0 and 1e100
                             else abs(option.value::numeric) > 1e100 end else false end
     order by 1 limit 1;
    if wrong is not null then
      raise exception 'arms: option "%" of "%" is unknown or out of range', wrong, entry.key
        using errcode = 'RG005', hint = 'Options are weight (>= 0), k (a whole number, >= 0), min_score, function, and of graph hops (1 or 2).';
    end if;
  end loop;
  -- Those that start from what others found run last.
  return query
  select option.name, coalesce((option.settings ->> 'weight')::double precision, 1),
         coalesce((option.settings ->> 'k')::integer, 50), (option.settings ->> 'min_score')::double precision,
         to_regproc(option.settings ->> 'function'),
         case when option.name = 'graph' and not option.settings ? 'function' then coalesce((option.settings ->> 'hops')::integer, 1) end
    from (select coalesce(standard.key, given.key) as name, given.value as given,
                 coalesce(standard.value, '{}') || case jsonb_typeof(given.value) when 'object' then given.value else '{}' end as settings
            from jsonb_each(defaults) as standard
            full join jsonb_each(chosen) as given on given.key = standard.key) as option
   where case when option.given is null then option.name <> all (off) else option.given <> 'false' end
   order by case option.name when 'vector' then 1 when 'keyword' then 2 when 'metadata' then 4 when 'prf' then 5
                             when 'graph' then 6 when 'sentence' then 7 else 3 end,
            option.name collate "C";
end $$;

comment on function ragpg.arm_options(jsonb) is
$$The arms that a search would run, with their options.

  select * from ragpg.arm_options('{"vector": {"weight": 2}, "graph": false}');
  select * from ragpg.arm_options('["keyword"]');   -- only this one
  select * from ragpg.arm_options('{"prf": true}'); -- one that is off by itself
  select * from ragpg.arm_options('{"graph": {"hops": 2}}');

An arm of your own: {"recent": {"function": "app.recent", "weight": 0.5}}. The function takes
(query text, namespace_ids integer[], filter jsonb, k integer) and returns setof ragpg.arm_hit or
any table with chunk_id bigint and score double precision, best first.$$;
