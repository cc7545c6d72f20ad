begin;
create temporary table probe (metadata jsonb) on commit drop;
do $$
declare
  many constant jsonb := (select jsonb_agg(value) from generate_series(1, 50) as value);
  operator text;
  step text;
  plan text;
begin
  foreach operator in array '{in,not_in}'::text[] loop
    plan := '';
    for step in execute 'explain select from probe where '
      || ragpg.filter_sql(jsonb_build_object('n', jsonb_build_object(operator, many)), 'probe') loop
      plan := plan || step;
    end loop;
    assert plan ~ 'hashed SubPlan', format('each row asks a table of hashes, not a list: %s', plan);
  end loop;
end $$;
rollback;
