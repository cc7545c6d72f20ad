create or replace function ragpg.index_progress()
returns table (space_id integer, model text, dimensions integer, vectors bigint, state text, phase text,
               done bigint, total bigint, bytes bigint)
language plpgsql stable
set search_path from current
as $$
declare
  place regclass;
begin
  for space_id, model, dimensions in
    select space.id, space.model, space.dimensions from ragpg.embedding_space as space order by space.id
  loop
    place := to_regclass(format('ragpg.embedding_%s', space_id));
    vectors := null; phase := null; done := null; total := null; bytes := null;
    state := 'no table';
    if place is not null then
      execute format('select count(*) from %s', place) into vectors;
      select case when building.pid is not null then 'building'
                  when bool_or(index.indisvalid) then 'valid'
                  when bool_or(not index.indisvalid) then 'invalid'
                  else 'none' end,
             building.phase, coalesce(nullif(building.tuples_done, 0), building.blocks_done),
             coalesce(nullif(building.tuples_total, 0), building.blocks_total),
             sum(pg_relation_size(index.indexrelid))
        into state, phase, done, total, bytes
        from (select 1) as one
        left join (pg_catalog.pg_index as index
                   join pg_catalog.pg_class as class on class.oid = index.indexrelid
                   join pg_catalog.pg_am as method on method.oid = class.relam and method.amname = 'hnsw')
          on index.indrelid = place
        left join pg_catalog.pg_stat_progress_create_index as building on building.relid = place
       group by building.pid, building.phase, building.tuples_done, building.tuples_total,
                building.blocks_done, building.blocks_total
       limit 1;
    end if;
    return next;
  end loop;
end $$;

comment on function ragpg.index_progress() is
$$The HNSW index of every embedding space: none, building, valid or invalid; and how far a build is.

  select space_id, state, phase, round(100.0 * done / nullif(total, 0)) as percent, pg_size_pretty(bytes)
    from ragpg.index_progress();

vectors  rows of the space, of all namespaces that the role may see
phase    as pg_stat_progress_create_index names it; done and total are tuples or blocks$$;
