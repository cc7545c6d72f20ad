-- The newest chunks that pass a filter. A common filter is met among the newest rows; a rare one
-- is left to the metadata index, which then has few rows to sort.
create or replace function ragpg.metadata_arm(
  namespace_ids integer[], filter jsonb, k integer, newest integer default 2000)
returns setof ragpg.arm_hit
language plpgsql stable security definer
set search_path from current
as $$
declare
  condition text := ragpg.filter_sql(filter);
  ids bigint[];
  owners integer[];
  times timestamptz[];
  attempt integer;
begin
  perform ragpg.check_access(namespace_ids);
  perform ragpg.refuse_nulls(pg_catalog.jsonb_build_object('k', k, 'newest', newest));
  if k <= 0 or cardinality(namespace_ids) = 0 then
    return;
  end if;
  -- Offset 0 keeps the planner from walking all rows, newest first, in search of a rare one.
  for attempt in 1..2 loop
    execute format(
      'select array_agg(best.id order by best.created_at desc, best.id desc),
              array_agg(best.namespace_id order by best.created_at desc, best.id desc),
              array_agg(best.created_at order by best.created_at desc, best.id desc)
         from (select recent.* from unnest($1) as asked (namespace_id),
                 lateral (select passed.* from (
                            select chunk.* from (
                              select candidate.id, candidate.namespace_id, candidate.document_id,
                                     candidate.page, candidate.metadata, candidate.created_at
                                from ragpg.chunk as candidate
                               where candidate.namespace_id = asked.namespace_id %s) as chunk
                             where %s
                            offset 0) as passed
                           order by passed.created_at desc, passed.id desc
                           limit %s) as recent
                order by recent.created_at desc, recent.id desc
                limit %3$s) as best',
      case when attempt = 1 then format('order by candidate.created_at desc, candidate.id desc limit %s', newest) else '' end,
      condition, k)
      into ids, owners, times using namespace_ids;
    exit when coalesce(cardinality(ids), 0) >= k;
  end loop;
  return query
  select 'metadata'::text, hit.namespace_id, hit.id, hit.rank::integer,
         extract(epoch from hit.created_at)::double precision, null::text, 1::double precision
    from unnest(ids, owners, times) with ordinality as hit (id, namespace_id, created_at, rank)
   order by hit.rank;
end $$;

comment on function ragpg.metadata_arm(integer[], jsonb, integer, integer) is
$$Chunks that pass a filter, newest first: ids only; ragpg.metadata_search() has the text.

  select * from ragpg.metadata_arm(ragpg.namespace_ids('{default}'), '{"year": 2024}', 10);

newest  so many recent rows are tried before the metadata index$$;
