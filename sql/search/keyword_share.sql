create or replace function ragpg.keyword_share(
  options jsonb, signals jsonb, keyword_weight double precision default 1, vector_weight double precision default 1)
returns double precision
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
  alpha constant double precision := coalesce((options ->> 'alpha')::double precision, 0.5);
  odds double precision;
begin
  if options ->> 'method' = 'convex' then
    keyword_weight := keyword_weight * (1 - alpha);
    vector_weight := vector_weight * alpha;
  else
    odds := ragpg.keyword_odds(signals, coalesce((options ->> 'bias')::double precision, 0));
    keyword_weight := keyword_weight * odds;
  end if;
  return keyword_weight / (keyword_weight + vector_weight);
end $$;

comment on function ragpg.keyword_share(jsonb, jsonb, double precision, double precision) is
$$The keyword arm's part of the weight of both arms, from 0 to 1.

  select ragpg.keyword_share('{"method": "convex", "alpha": 0.3}', '{}');   -- 0.7

options  see ragpg.fusion_options
signals  see ragpg.fusion_signals$$;
