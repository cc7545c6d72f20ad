-- Asking for more results than an arm's pool holds widens the pool.
create or replace function ragpg.widen_arms(arms jsonb, k integer)
returns jsonb
language sql stable parallel safe
begin atomic
  select case when k <= 50 then arms else (
    select coalesce(jsonb_object_agg(option.key, false) filter (where option.key is not null), '{}')
           || coalesce((select jsonb_object_agg(chosen.arm, jsonb_strip_nulls(jsonb_build_object(
                'weight', chosen.weight, 'k', case when chosen.arm = 'graph' or chosen.k = 0 then chosen.k else greatest(chosen.k, widen_arms.k) end,
                'min_score', chosen.min_score, 'function', chosen.function::text, 'hops', chosen.hops)))
              from ragpg.arm_options(arms) as chosen), '{}')
      from (values ('vector'), ('keyword'), ('metadata'), ('prf'), ('graph'), ('sentence')) as option (key)) end;
end;

comment on function ragpg.widen_arms(jsonb, integer) is
$$Arm options with pools of at least k rows.

  select ragpg.widen_arms('["keyword"]', 200);$$;
