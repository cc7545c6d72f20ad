-- Nothing named, nothing deleted. A whole namespace has its own call, ragpg.drop_namespace.
create or replace function ragpg.delete_documents(namespace text, sources text[])
returns bigint
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
  doomed bigint[];
begin
  -- Locked in the order in which writers lock them.
  select array_agg(locked.id) into doomed
    from (select document.id from ragpg.document
           where document.namespace_id = owner and document.source = any (delete_documents.sources)
           order by document.source for update) as locked;
  delete from ragpg.link where link.namespace_id = owner and link.document_id = any (doomed);
  delete from ragpg.chunk where chunk.namespace_id = owner and chunk.document_id = any (doomed);
  delete from ragpg.document where document.namespace_id = owner and document.id = any (doomed);
  return coalesce(cardinality(doomed), 0);
end $$;

comment on function ragpg.delete_documents(text, text[]) is
$$Deletes documents by source, with their chunks, vectors, statistics and links; returns how many.

  select ragpg.delete_documents('handbook', '{old.md,draft.md}');

An empty or null list deletes nothing.$$;
