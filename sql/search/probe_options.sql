-- Further queries of one search, checked.
create or replace function ragpg.probe_options(probes jsonb default null)
returns table (probe text, query text, embedding text, weight double precision, arms text[])
language plpgsql immutable parallel safe
as $$
declare
  entry record;
  wrong text;
begin
  if probes is null or probes = 'null' then
    return;
  end if;
  if jsonb_typeof(probes) <> 'array' or jsonb_array_length(probes) > 16 then
    raise exception 'probes: expected a list of at most 16, got %', left(probes::text, 200) using errcode = 'RG005';
  end if;
  for entry in select given.value, given.place from jsonb_array_elements(probes) with ordinality as given (value, place) loop
    if jsonb_typeof(entry.value) <> 'object' or coalesce(entry.value ->> 'name', '') !~ '\S' then
      raise exception 'probes: number % has no name: %', entry.place, left(entry.value::text, 200) using errcode = 'RG005';
    end if;
    select option.key into wrong from jsonb_each(entry.value) as option
     where case option.key
             when 'name' then jsonb_typeof(option.value) <> 'string'
             when 'query' then jsonb_typeof(option.value) not in ('string', 'null')
             when 'embedding' then jsonb_typeof(option.value) not in ('string', 'array', 'null')
             when 'weight' then case jsonb_typeof(option.value) when 'number' then option.value::numeric not between 0 and 1e100
                                                                else option.value <> 'null' end
             when 'arms' then jsonb_typeof(option.value) not in ('array', 'null')
                              or jsonb_typeof(option.value) = 'array' and not option.value <@ '["keyword", "vector"]'
             else true end
     order by 1 limit 1;
    if wrong is not null then
      raise exception 'probes: option "%" of "%" is unknown or out of range', wrong, entry.value ->> 'name'
        using errcode = 'RG005',
              hint = 'Options are name, query, embedding, weight (>= 0) and arms (of "keyword" and "vector").';
    end if;
  end loop;
  select given.value ->> 'name' into wrong from jsonb_array_elements(probes) as given (value) group by 1 having count(*) > 1 order by 1 limit 1;
  if wrong is not null then
    raise exception 'probes: two have the name "%"', wrong using errcode = 'RG005';
  end if;
  return query
  select given.value ->> 'name', given.value ->> 'query', given.value ->> 'embedding',
         coalesce((given.value ->> 'weight')::double precision, 0.3),
         case when jsonb_typeof(given.value -> 'arms') = 'array'
              then array(select jsonb_array_elements_text(given.value -> 'arms')) else '{keyword,vector}' end
    from jsonb_array_elements(probes) with ordinality as given (value, place)
   order by given.place;
end $$;

comment on function ragpg.probe_options(jsonb) is
$$The further queries that a search would run beside its own, with their options.

  select * from ragpg.probe_options('[{"name": "facet", "query": "gift cards", "weight": 0.3}]');

name       unique; the hits join the fusion as arms "keyword:NAME" and "vector:NAME"
query      text for the keyword arm; without it that arm is left out
embedding  vector for the vector arm; without it that arm is left out
weight     times the weight of the arm
arms       a list of "keyword" and "vector", both by default$$;
