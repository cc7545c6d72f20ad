-- How much more the keyword arm is worth than the vector arm for one query: a log-linear model of
-- three signals, fitted on judged sets and checked on families of sets that it had not seen
-- (docs/decisions/fusion.md).
create or replace function ragpg.keyword_odds(signals jsonb, bias double precision default 0)
returns double precision
language sql immutable parallel safe
return exp(greatest(-4, least(4, bias - 0.43
  + 1.9 * coalesce((signals ->> 'drop')::double precision, 0)
  - 3.6 * coalesce((signals ->> 'near')::double precision, 0)
  + 0.6 * ln(1 + coalesce((signals ->> 'terms')::double precision, 0)))));

comment on function ragpg.keyword_odds(jsonb, double precision) is
$$The weight of the keyword arm over that of the vector arm, from the signals of a query.

  select ragpg.keyword_odds('{"drop": 0.7, "near": 0.5, "terms": 5}');

signals  see ragpg.fusion_signals
bias     what a namespace adds to the logarithm: above 0 trusts words more, below 0 vectors$$;
