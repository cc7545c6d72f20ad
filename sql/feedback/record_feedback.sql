-- What is gone is left out, so a batch never fails for one passage of it. Rows are taken in the order
-- of their keys: two writers never wait in a circle.
create or replace function ragpg.record_feedback(events jsonb)
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  counted bigint;
begin
  with given as materialized (
    select namespace.id as namespace_id, event.chunk_id,
           least(greatest(event.rank, 1), 20)::smallint as rank, event.shown,
           least(greatest(coalesce(event.followed, 0), 0), event.shown) as followed
      from jsonb_to_recordset(events) as event (namespace text, chunk_id bigint, rank integer, shown bigint, followed bigint)
      join ragpg.namespace on namespace.name = event.namespace
     where event.shown > 0 and event.rank is not null
       and namespace.settings -> 'feedback' is distinct from 'false'
  ), present as materialized (
    select chunk.namespace_id, chunk.id from ragpg.chunk
     where (chunk.namespace_id, chunk.id) in (select given.namespace_id, given.chunk_id from given)
     order by chunk.namespace_id, chunk.id for key share
  ), passages as (
    insert into ragpg.feedback as stored (namespace_id, chunk_id, rank, shown, followed)
    select given.namespace_id, given.chunk_id, given.rank, sum(given.shown), sum(given.followed)
      from given join present on (present.namespace_id, present.id) = (given.namespace_id, given.chunk_id)
     group by 1, 2, 3 order by 1, 2, 3
    on conflict (namespace_id, chunk_id, rank) do update
       set shown = stored.shown + excluded.shown, followed = stored.followed + excluded.followed, last_at = now()
    returning 1
  ), ranks as (
    insert into ragpg.feedback_rank as stored (namespace_id, rank, shown, followed)
    select given.namespace_id, given.rank, sum(given.shown), sum(given.followed)
      from given join present on (present.namespace_id, present.id) = (given.namespace_id, given.chunk_id)
     group by 1, 2 order by 1, 2
    on conflict (namespace_id, rank) do update
       set shown = stored.shown + excluded.shown, followed = stored.followed + excluded.followed
    returning 1
  )
  select (select count(*) from passages) + 0 * (select count(*) from ranks) into counted;
  return counted;
end $$;

comment on function ragpg.record_feedback(jsonb) is
$$Counts passages that were shown, and those of them that were followed; returns how many rows that made.

  select ragpg.record_feedback('[{"namespace": "default", "chunk_id": 1, "rank": 2, "shown": 1, "followed": 1}]');

events  a list; rank is the place at which the passage was shown, from 1. Passages and namespaces that
        are gone, and namespaces where ragpg.set_feedback() switched it off, are left out$$;
