-- What a search runs, in order: vector, keyword, the same for every probe, functions of the user,
-- metadata, and the arms that start from what these found.
create or replace function ragpg.search_plan(arms jsonb default null, probes jsonb default null)
returns table (arm text, kind text, probe text, query text, embedding text, weight double precision,
               k integer, min_score double precision, function regproc, hops integer)
language sql stable parallel safe
begin atomic
  with chosen as materialized (
    select option.*, row_number() over () as place from ragpg.arm_options(arms) as option
  ), wanted as materialized (
    select probe.*, row_number() over () as place from ragpg.probe_options(probes) as probe
  ), step as (
    select chosen.arm, chosen.arm as kind, null as probe, null as query, null as embedding, chosen.weight,
           chosen.k, chosen.min_score, chosen.function, chosen.hops,
           case when chosen.arm in ('vector', 'keyword') then 1 else 3 end as stage, 0 as turn, chosen.place
      from chosen
     union all
    select chosen.arm || ':' || wanted.probe, chosen.arm, wanted.probe, wanted.query, wanted.embedding,
           chosen.weight * wanted.weight, chosen.k, chosen.min_score, chosen.function, null as hops, 2, wanted.place, chosen.place
      from wanted
      join chosen on chosen.arm = any (wanted.arms)
                 and case chosen.arm when 'keyword' then wanted.query else wanted.embedding end is not null
  )
  select step.arm, step.kind, step.probe, step.query, step.embedding, step.weight, step.k, step.min_score, step.function, step.hops
    from step
   order by step.stage, step.turn, step.place;
end;

comment on function ragpg.search_plan(jsonb, jsonb) is
$$The steps of a search in the order in which they run.

  select arm, weight, k from ragpg.search_plan(null, '[{"name": "facet", "query": "gift cards"}]');

arms    as ragpg.arm_options() takes them
probes  as ragpg.probe_options() takes them; only arms that are on run for them$$;
