-- Runs the arms one after the other. An exception block each costs nothing measurable, and one
-- failing arm never fails the search. A statement timeout ends the arm it hit, and no timer runs
-- after it, so the arms left are skipped; a cancel by the caller goes through.
create or replace function ragpg.search_arms(
  query text, embedding vector, namespace_ids integer[], filter jsonb, arms jsonb, budget_ms integer,
  probes jsonb default null,
  out hits ragpg.arm_hit[], out report jsonb)
language plpgsql stable
set search_path from current
as $$
declare
  option record;
  started timestamptz := clock_timestamp();
  since timestamptz;
  found ragpg.arm_hit[];
  seeds bigint[];
  reason text;
  timed_out boolean := false;
  reached text;
begin
  hits := '{}';
  report := '{}';
  -- A filter or an option that is wrong is the caller's error, not an arm's.
  perform ragpg.filter_sql(filter);
  for option in select * from ragpg.search_plan(arms, probes) loop
    since := clock_timestamp();
    seeds := null;
    if option.function is null and option.kind in ('prf', 'graph', 'sentence') then
      seeds := array(select fused.chunk_id
        from ragpg.rrf(hits) with ordinality as fused (namespace_id, chunk_id, score, arms, place)
       where fused.place <= case option.kind when 'graph' then 10 else 100 end order by fused.place);
    end if;
    reason := case
      when timed_out or extract(epoch from since - started) * 1000 > budget_ms then 'time budget used up'
      when option.k = 0 then 'k is 0'
      when option.kind in ('vector', 'sentence') and option.probe is null and embedding is null then 'no query vector'
      when option.kind in ('vector', 'sentence') and not exists (
        select 1 from ragpg.namespace where namespace.id = any (namespace_ids) and namespace.space_id is not null)
        then 'no embeddings in these namespaces'
      when option.kind = 'sentence' and not exists (
        select 1 from ragpg.namespace where namespace.id = any (namespace_ids)
           and to_regclass(format('ragpg.sentence_%s', namespace.space_id)) is not null)
        then 'no sentence vectors are stored'
      when option.kind in ('keyword', 'prf') and coalesce(option.query, query, '') !~ '\S' then 'blank query'
      when option.kind = 'metadata' and (filter is null or filter = '{}') then 'no filter'
      when cardinality(seeds) = 0 then 'no hits to start from'
    end;
    if reason is not null then
      report := report || jsonb_build_object(option.arm, jsonb_build_object('rows', 0, 'ms', 0, 'skipped', reason));
      continue;
    end if;
    begin
      found := ragpg.run_arm(option.arm, coalesce(option.query, query), coalesce(option.embedding::vector, embedding),
        namespace_ids, filter, option.k, option.min_score, option.weight, option.function, seeds, option.hops);
      hits := hits || found;
      select string_agg(distinct hit.mode, '+' order by hit.mode) into reached from unnest(found) as hit
       where option.kind <> 'graph';  -- there it says why a single hit is there
      report := report || jsonb_build_object(option.arm, jsonb_strip_nulls(jsonb_build_object(
        'rows', cardinality(found),
        'ms', round(extract(epoch from clock_timestamp() - since) * 1000, 3),
        'mode', case when reached like '%+%' then 'hnsw+exact' else reached end)));
    exception
      when query_canceled then
        -- Told apart by the clock: the message comes in the language of the server.
        if extract(epoch from clock_timestamp() - statement_timestamp()) * 1000 < (
             select coalesce(nullif(pg_settings.setting::double precision, 0), 'infinity') - 1
               from pg_catalog.pg_settings where pg_settings.name = 'statement_timeout') then
          raise;
        end if;
        timed_out := true;
        report := report || jsonb_build_object(option.arm, jsonb_build_object('rows', 0,
          'ms', round(extract(epoch from clock_timestamp() - since) * 1000, 3), 'error', 'statement timeout'));
      when others then
        report := report || jsonb_build_object(option.arm, jsonb_build_object('rows', 0,
          'ms', round(extract(epoch from clock_timestamp() - since) * 1000, 3),
          'error', sqlerrm, 'sqlstate', sqlstate));
    end;
  end loop;
end $$;

comment on function ragpg.search_arms(text, vector, integer[], jsonb, jsonb, integer, jsonb) is
$$The rankings of all arms, and what each did: rows, ms, and mode, error or skipped.

  select report from ragpg.search_arms('refund', null, ragpg.namespace_ids('{default}'), null, null, 5000);$$;
