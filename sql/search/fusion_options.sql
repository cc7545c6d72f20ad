-- How a search fuses: what the call asks for, else what its namespaces agree on, else adaptive.
create or replace function ragpg.fusion_options(fusion jsonb default null, namespace_ids integer[] default '{}')
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  lean constant jsonb := case when jsonb_typeof(fusion) = 'object' then fusion -> 'lean' end;
  chosen jsonb := nullif(case when lean is null then fusion else fusion - 'lean' end, 'null');
  wrong text;
begin
  -- The lean of one query says nothing of how to fuse.
  if chosen is null or (lean is not null and chosen = '{}') then
    select case when count(distinct namespace.settings -> 'fusion') = 1 and count(*) = count(namespace.settings -> 'fusion')
                then min(namespace.settings ->> 'fusion')::jsonb end
      into chosen
      from ragpg.namespace where namespace.id = any (namespace_ids);
  end if;
  chosen := coalesce(chosen, '{}');
  if jsonb_typeof(chosen) <> 'object' then
    raise exception 'fusion: expected an object, got %', left(chosen::text, 200) using errcode = 'RG005';
  end if;
  select option.key into wrong from jsonb_each(chosen) as option
   where case option.key
           when 'method' then option.value not in ('"adaptive"', '"rrf"', '"minmax"', '"convex"')
           when 'rrf_k' then case jsonb_typeof(option.value) when 'number' then
             option.value::numeric not between 0 and 2147483647 or option.value::numeric <> trunc(option.value::numeric)
             else true end
           when 'bias' then case jsonb_typeof(option.value) when 'number' then option.value::numeric not between -20 and 20 else true end
           when 'alpha' then case jsonb_typeof(option.value) when 'number' then option.value::numeric not between 0 and 1 else true end
           else true end
   order by 1 limit 1;
  if lean is not null and (jsonb_typeof(lean) <> 'number' or abs(lean::text::numeric) > 20) then
    wrong := 'lean';
  end if;
  if wrong is not null then
    raise exception 'fusion: option "%" is unknown or out of range: %', wrong, left(coalesce(fusion, chosen)::text, 200)
      using errcode = 'RG005',
            hint = 'Options are method (adaptive, rrf, minmax, convex), rrf_k (a whole number, >= 0), alpha (0 to 1), bias and lean (-20 to 20).';
  end if;
  if lean is not null and coalesce(chosen ->> 'method', 'adaptive') = 'adaptive' then
    chosen := chosen || jsonb_build_object('bias', least(20, greatest(-20,
      coalesce((chosen ->> 'bias')::numeric, 0) + lean::text::numeric)));
  end if;
  return '{"method": "adaptive"}'::jsonb || chosen;
end $$;

comment on function ragpg.fusion_options(jsonb, integer[]) is
$$The fusion that a search would use.

  select ragpg.fusion_options('{"method": "rrf", "rrf_k": 60}');

method  adaptive: shares of the keyword and vector scores, weighed for each query (ragpg.keyword_odds)
        convex: the same with one weight, alpha
        rrf: reciprocal ranks; minmax: scores of each list from 0 to 1
rrf_k   the constant of reciprocal ranks: of all arms with rrf, of the others with adaptive and convex
alpha   for convex: the weight of the vector arm, from 0 to 1, 0.5 by default
bias    for adaptive: above 0 trusts words more, below 0 vectors
lean    the same for one query: added to the bias of the call or, where it is alone, of the namespace

A namespace keeps its own in settings: {"fusion": {"method": "adaptive", "bias": -0.5}}.$$;
