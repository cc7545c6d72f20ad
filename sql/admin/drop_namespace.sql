-- Set by set, because a cascade would fire a trigger for every document.
create or replace function ragpg.drop_namespace(name text)
returns boolean
language plpgsql
set search_path from current
as $$
declare
  doomed integer;
begin
  perform ragpg.require_allowed(name);
  select namespace.id into doomed from ragpg.namespace
   where namespace.name = drop_namespace.name for update;
  if doomed is null then
    return false;
  end if;
  -- The mirror for Cypher first: else it would follow every delete.
  if to_regtype('ag_catalog.agtype') is not null and to_regprocedure('ragpg.drop_cypher_graph(text)') is not null
     and has_function_privilege(to_regprocedure('ragpg.drop_cypher_graph(text)'), 'execute') then
    perform ragpg.drop_cypher_graph(name);
  end if;
  -- Its texts are gone from now on; ragpg.prune_embedding_cache sees which of them others have too.
  if has_table_privilege('ragpg.embedding_unused', 'insert') and has_table_privilege('ragpg.embedding_cache', 'select') then
    insert into ragpg.embedding_unused (space_id, hash)
    select distinct cache.space_id, cache.hash
      from ragpg.chunk
      join ragpg.namespace on namespace.id = chunk.namespace_id
      join ragpg.embedding_cache as cache on cache.space_id = namespace.space_id and cache.hash = chunk.embedding_hash
     where chunk.namespace_id = doomed
     order by cache.space_id, cache.hash
    on conflict (space_id, hash) do nothing;
  end if;
  -- Links and edges first: their ends would be unhooked one by one.
  delete from ragpg.link where link.namespace_id = doomed;
  delete from ragpg.edge where edge.namespace_id = doomed;
  delete from ragpg.chunk where chunk.namespace_id = doomed;
  delete from ragpg.document where document.namespace_id = doomed;
  delete from ragpg.keyword_log where keyword_log.namespace_id = doomed;
  delete from ragpg.namespace where namespace.id = doomed;
  return true;
end $$;

comment on function ragpg.drop_namespace(text) is
$$Deletes a namespace with everything in it; false if there is none of that name.

  select ragpg.drop_namespace('handbook');

Cached embeddings stay for a while: they belong to their text, not to a namespace. What no other text
needs goes with ragpg.prune_embedding_cache(), whose time counts from here.$$;
