-- The chunks that pass a filter, if they are few; the count stops as soon as it is clear.
create or replace function ragpg.vector_candidates(namespace_ids integer[], condition text, at_most integer)
returns bigint[]
language plpgsql stable
set search_path from current
as $$
declare
  ids bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('condition', vector_candidates.condition, 'at_most', vector_candidates.at_most));
  execute format(
    'select array_agg(passing.id)
       from (select chunk.id from ragpg.chunk
              where chunk.namespace_id = any ($1) and %s limit %s) as passing', condition, at_most + 1)
    into ids using namespace_ids;
  return case when coalesce(cardinality(ids), 0) <= at_most then coalesce(ids, '{}') end;
end $$;

comment on function ragpg.vector_candidates(integer[], text, integer) is
$$Ids of the chunks that pass a filter, or null if there are more than `at_most`.

  select ragpg.vector_candidates('{1}', ragpg.filter_sql('{"year": 2024}'), 1000);

condition  SQL on chunk, from ragpg.filter_sql$$;
