create or replace function ragpg.begin_reembedding(namespace text, space_id integer)
returns void
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[begin_reembedding.namespace]))[1];
  active integer := (select target.space_id from ragpg.namespace as target where target.id = owner);
begin
  if not exists (select from ragpg.embedding_space as space where space.id = begin_reembedding.space_id) then
    raise exception 'embedding space % does not exist', space_id using errcode = 'RG005',
      hint = 'List them with: select * from ragpg.embedding_space';
  elsif active is not distinct from begin_reembedding.space_id then
    return;
  end if;
  insert into ragpg.namespace_space (namespace_id, space_id, state)
  values (owner, begin_reembedding.space_id, 'building')
  on conflict on constraint namespace_space_pkey do nothing;
end $$;

comment on function ragpg.begin_reembedding(text, integer) is
$$Lets every ingest write the vectors of a further embedding space too; search does not see it.

  select ragpg.begin_reembedding('handbook', ragpg.create_embedding_space('new-model', 768));

Nothing happens if it has begun already, or if the namespace is searched in that space. Fill it with
`ragpg reembed`; then ragpg.switch_embedding_space().$$;
