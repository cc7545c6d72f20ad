-- Counts stop at a bound, so that the answer is quick however large the space is. Without an owner's
-- rights only the rows of namespaces that the role may use are counted.
create or replace function ragpg.embedding_index_state(
  space_id integer, namespace text default null, enough bigint default 20001)
returns table (state text, vectors bigint, others bigint)
language plpgsql stable
set search_path from current
as $$
declare
  place regclass := to_regclass(format('ragpg.embedding_%s', space_id));
  space ragpg.embedding_space;
  owner integer;
begin
  select embedding_space.* into space from ragpg.embedding_space
   where embedding_space.id = embedding_index_state.space_id;
  if space.id is null or place is null then
    return;
  end if;
  select target.id into owner from ragpg.namespace as target where target.name = embedding_index_state.namespace;
  execute format('select count(*) from (select from %s limit $1) as sample', place) into vectors using enough;
  execute format('select count(*) from (select from %s as one where one.namespace_id is distinct from $1 limit $2) as sample',
    place) into others using owner, enough;
  state := case
    when ragpg.has_embedding_index(space.id) then 'valid'
    when exists (select from pg_catalog.pg_stat_progress_create_index as building where building.relid = place) then 'building'
    when space.dimensions > (case space.type when 'halfvec' then 4000 else 2000 end) then 'impossible'
    else 'none' end;
  return next;
end $$;

comment on function ragpg.embedding_index_state(integer, text, bigint) is
$$The HNSW index of an embedding space: valid, building, none, or impossible because its vectors are too
long; with the number of vectors, and of those that are not the namespace's.

  select * from ragpg.embedding_index_state(1, 'handbook');

enough  counting stops there$$;
