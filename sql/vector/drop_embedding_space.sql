-- Drops tables, so it runs with the rights of the schema's owner. Every call names its schema.
create or replace function ragpg.drop_embedding_space(namespace text, space_id integer)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  owner integer;
begin
  perform ragpg.require_right('ragpg.namespace', 'select');
  perform ragpg.require_right('ragpg.namespace_space', 'delete');
  owner := (ragpg.namespace_ids(array[drop_embedding_space.namespace]))[1];
  perform ragpg.check_access(array[owner]);
  if exists (select from ragpg.namespace as target
              where target.id = owner and target.space_id = drop_embedding_space.space_id) then
    raise exception 'namespace "%" is searched in embedding space %', drop_embedding_space.namespace, space_id
      using errcode = 'RG005', hint = 'Switch to another one first: ragpg.switch_embedding_space().';
  end if;
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('ragpg.namespace_space'), owner);
  delete from ragpg.namespace_space as kept
   where kept.namespace_id = owner and kept.space_id = drop_embedding_space.space_id;
  if not found then
    return false;
  end if;
  -- Nobody may begin to use a space that is about to go.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('ragpg.create_embedding_space')::bigint);
  if exists (select from ragpg.namespace as target where target.space_id = drop_embedding_space.space_id)
     or exists (select from ragpg.namespace_space as kept where kept.space_id = drop_embedding_space.space_id) then
    execute pg_catalog.format('delete from ragpg.embedding_%s where namespace_id = $1', space_id) using owner;
    if pg_catalog.to_regclass(pg_catalog.format('ragpg.sentence_%s', space_id)) is not null then
      execute pg_catalog.format('delete from ragpg.sentence_%s where namespace_id = $1', space_id) using owner;
    end if;
    return true;
  end if;
  execute pg_catalog.format('drop table if exists ragpg.sentence_%s, ragpg.embedding_%1$s', space_id);
  delete from ragpg.embedding_claim as claim where claim.space_id = drop_embedding_space.space_id;
  delete from ragpg.embedding_space as space where space.id = drop_embedding_space.space_id;
  return true;
end $$;

comment on function ragpg.drop_embedding_space(text, integer) is
$$Forgets an embedding space that a namespace does not search any more: its vectors, and where no other
namespace uses it, the space with its cached vectors. False if the namespace did not keep it.

  select ragpg.drop_embedding_space('handbook', 2);$$;
