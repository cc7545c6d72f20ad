-- The rankings of the arms as one, and how it was done. Where keyword or vector found nothing, or
-- their scores cannot be told, ranks decide.
create or replace function ragpg.fuse(
  hits ragpg.arm_hit[], options jsonb, query text, embedding vector, namespace_ids integer[], k integer,
  rrf_k integer default 10,
  out ranking ragpg.arm_hit[], out places jsonb[], out report jsonb)
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  since constant timestamptz := clock_timestamp();
  method text := options ->> 'method';
  keyword_weight double precision;
  vector_weight double precision;
  signals jsonb := '{}';
  shares ragpg.arm_hit[];
  share double precision;
  weights jsonb;
  failure text;
begin
  rrf_k := coalesce((options ->> 'rrf_k')::integer, rrf_k);
  select max(hit.weight) filter (where hit.arm = 'keyword'), max(hit.weight) filter (where hit.arm = 'vector'),
         coalesce(jsonb_object_agg(hit.arm, hit.weight), '{}')
    into keyword_weight, vector_weight, weights from unnest(hits) as hit;

  if method in ('adaptive', 'convex') then
    if coalesce(keyword_weight * vector_weight, 0) = 0 then
      method := 'rrf';
    else
      begin
        select evidence.signals, evidence.shares into signals, shares
          from ragpg.fusion_evidence(hits, query, embedding, namespace_ids) as evidence;
        share := ragpg.keyword_share(options, signals, keyword_weight, vector_weight);
        -- The sum of both stays what it was, so that the other arms keep their say.
        weights := weights || jsonb_build_object('keyword', (keyword_weight + vector_weight) * share,
                                                 'vector', (keyword_weight + vector_weight) * (1 - share));
      exception when others then
        method := 'rrf';
        signals := '{}';
        failure := sqlerrm;
      end;
    end if;
  end if;

  -- A statement for each method: one that could do all would set up all of them every time.
  if method = 'rrf' then
    ranking := array(
      select row('fused', one.namespace_id, one.chunk_id, row_number() over (), one.score, null, 1)::ragpg.arm_hit
        from ragpg.rrf(hits, rrf_k) as one limit k);
  elsif method = 'minmax' then
    ranking := array(
      select row('fused', one.namespace_id, one.chunk_id, row_number() over (), one.score, null, 1)::ragpg.arm_hit
        from ragpg.minmax(hits, rrf_k) as one limit k);
  else
    ranking := array(
      select row('fused', one.namespace_id, one.chunk_id, row_number() over (), one.score, null, 1)::ragpg.arm_hit
        from ragpg.convex(hits, shares, (weights ->> 'keyword')::double precision,
                          (weights ->> 'vector')::double precision, rrf_k) as one limit k);
  end if;
  places := array(
    select jsonb_object_agg(hit.arm, jsonb_strip_nulls(
             jsonb_build_object('rank', hit.rank, 'score', hit.score, 'mode', hit.mode)))
      from unnest(ranking) as best
      join unnest(hits) as hit on hit.namespace_id = best.namespace_id and hit.chunk_id = best.chunk_id
     group by best.rank
     order by best.rank);
  report := jsonb_strip_nulls(jsonb_build_object('method', method, 'weights', weights, 'rrf_k', rrf_k,
    'signals', signals, 'error', failure,
    'ms', round(extract(epoch from clock_timestamp() - since) * 1000, 3)));
end $$;

comment on function ragpg.fuse(ragpg.arm_hit[], jsonb, text, vector, integer[], integer, integer) is
$$The k best of the arms' rankings as ids, every arm's view of each place, and how they were fused.

  select report from ragpg.fuse('{}', ragpg.fusion_options(), 'refund', null, '{1}', 10);

options  see ragpg.fusion_options$$;
