-- How much more the keyword arm is worth than the vector arm for one query: a log-linear model of
-- four signals, fitted on judged sets and checked on families of sets that it had not seen
-- (docs/decisions/fusion.md).
create or replace function ragpg.keyword_odds(signals jsonb, bias double precision default 0)
returns double precision
language sql immutable parallel safe
return exp(greatest(-4, least(4, bias - 2.3
  + 1.9 * coalesce((signals ->> 'drop')::double precision, 0)
  - 4.5 * coalesce((signals ->> 'near')::double precision, 0)
  + 1.8 * coalesce((signals ->> 'lead')::double precision, 0)
  + 1.5 * ln(1 + least(coalesce((signals ->> 'terms')::double precision, 0), 20)))));

comment on function ragpg.keyword_odds(jsonb, double precision) is
$$The weight of the keyword arm over that of the vector arm, from the signals of a query.

  select ragpg.keyword_odds('{"drop": 0.7, "near": 0.5, "lead": 0.3, "terms": 5}');

signals  see ragpg.fusion_signals
bias     what a namespace adds to the logarithm: above 0 trusts words more, below 0 vectors$$;
