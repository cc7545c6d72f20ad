-- plpgsql keeps the plan, which costs more than its execution. Every search of a namespace takes the same sample, so equal queries stay equal.
create or replace function ragpg.sample_chunks(namespace_ids integer[], size integer default 16)
returns bigint[]
language plpgsql stable parallel safe
set search_path from current
as $$
begin
  return array(
    select distinct near.id
      from unnest(namespace_ids) as asked (namespace_id),
           lateral (select min(chunk.id) as low, max(chunk.id) as high
                      from ragpg.chunk where chunk.namespace_id = asked.namespace_id) as ids,
           generate_series(0, greatest(size / cardinality(namespace_ids), 4) - 1) as step (place),
           lateral (select chunk.id from ragpg.chunk
                     where chunk.namespace_id = asked.namespace_id
                       and chunk.id >= ids.low + (ids.high - ids.low) * step.place / greatest(size / cardinality(namespace_ids), 4)
                     order by chunk.id limit 1) as near);
end $$;

comment on function ragpg.sample_chunks(integer[], integer) is
$$Ids of chunks of the namespaces, evenly spaced; fewer than `size` where there are gaps.

  select ragpg.sample_chunks(ragpg.namespace_ids('{default}'));$$;
