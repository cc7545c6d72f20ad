-- From scratch what ingestion keeps current. What extractors found stays: no SQL can repeat it.
create or replace function ragpg.rebuild_graph(namespace text)
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[rebuild_graph.namespace]))[1];
begin
  -- Writers wait, and we for them, in their order.
  perform from ragpg.document where document.namespace_id = owner order by document.source for share;
  delete from ragpg.mention where mention.namespace_id = owner and mention.origin = 'titles';
  delete from ragpg.topic where topic.namespace_id = owner;
  delete from ragpg.phrase where phrase.namespace_id = owner;
  perform ragpg.remove_orphans(owner);
  -- Locked once more: one may have come meanwhile, and would go again before its topic is written.
  perform ragpg.store_topics(owner, array(
    select document.id from ragpg.document where document.namespace_id = owner order by document.source for share));
  perform ragpg.resolve_links(owner);
end $$;

comment on function ragpg.rebuild_graph(text) is
$$Derives topics, mentions of titles and resolved links of a namespace anew, in one transaction.

  select ragpg.rebuild_graph('default');

Ingestion keeps them current; this is for documents from before there was a graph, and for doubts.$$;
