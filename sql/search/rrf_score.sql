-- Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009): one arm's share for one rank.
create or replace function ragpg.rrf_score(rank integer, weight double precision default 1, rrf_k integer default 10)
returns double precision
language sql immutable parallel safe
return weight / (rrf_k::double precision + rank);

comment on function ragpg.rrf_score(integer, double precision, integer) is
$$What a rank in one list adds to a fused score: weight / (rrf_k + rank), rank from 1.

  select ragpg.rrf_score(1);  -- 0.0909$$;
