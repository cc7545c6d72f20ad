create or replace function ragpg.embedding_spaces(namespace text)
returns table (space_id integer, model text, dimensions integer, state text, chunks bigint, vectors bigint,
               missing bigint, indexed boolean)
language plpgsql stable
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[embedding_spaces.namespace]))[1];
begin
  select count(*) into chunks from ragpg.chunk where chunk.namespace_id = owner;
  for space_id, model, dimensions, state in
    select space.id, space.model, space.dimensions, kept.state
      from (select target.space_id as id, 'active' as state from ragpg.namespace as target where target.id = owner
             union all
            select one.space_id, one.state from ragpg.namespace_space as one where one.namespace_id = owner) as kept
      join ragpg.embedding_space as space on space.id = kept.id
     order by kept.state, space.id
  loop
    execute format('select count(*) from ragpg.embedding_%s as present where present.namespace_id = $1', space_id)
      into vectors using owner;
    missing := greatest(chunks - vectors, 0);
    indexed := ragpg.has_embedding_index(space_id);
    return next;
  end loop;
end $$;

comment on function ragpg.embedding_spaces(text) is
$$The embedding spaces of a namespace: the one that is searched (active), one that is being built, and
former ones, with how far they are.

  select * from ragpg.embedding_spaces('handbook');$$;
