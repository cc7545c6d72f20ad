create or replace function ragpg.set_embedding_space(namespace text, space_id integer)
returns void
language plpgsql
set search_path from current
as $$
begin
  perform ragpg.namespace_ids(array[set_embedding_space.namespace]);
  update ragpg.namespace as target set space_id = set_embedding_space.space_id
   where target.name = set_embedding_space.namespace
     and target.space_id is distinct from set_embedding_space.space_id;
end $$;

comment on function ragpg.set_embedding_space(text, integer) is
$$Makes a namespace search another embedding space, at once. The vectors must be there.

  select ragpg.set_embedding_space('handbook', 2);$$;
