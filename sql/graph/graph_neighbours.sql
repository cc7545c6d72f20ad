-- The edges of one node, k of each kind and direction, by index.
create or replace function ragpg.graph_neighbours(namespace_id integer, node_kind text, node bigint, k integer)
returns table (kind text, source text, target text, other text, weight double precision, label text)
language sql stable
begin atomic
  (select 'LINKS' as kind, 'd' || link.document_id, 'd' || link.target_id, 'd' || link.target_id, count(*)::double precision,
          min(nullif(link.anchor, ''))
     from ragpg.link
    where node_kind = 'd' and link.namespace_id = graph_neighbours.namespace_id
      and link.document_id = node and link.target_id is not null
    group by link.document_id, link.target_id order by 5 desc, link.target_id limit k)
  union all
  (select 'LINKS' as kind, 'd' || link.document_id, 'd' || link.target_id, 'd' || link.document_id, count(*)::double precision,
          min(nullif(link.anchor, ''))
     from ragpg.link
    where node_kind = 'd' and link.namespace_id = graph_neighbours.namespace_id and link.target_id = node
    group by link.document_id, link.target_id order by 5 desc, link.document_id limit k)
  union all
  (select 'ABOUT' as kind, 'd' || topic.document_id, 'e' || topic.entity_id, 'e' || topic.entity_id, topic.weight, null as label
     from ragpg.topic
    where node_kind = 'd' and topic.namespace_id = graph_neighbours.namespace_id and topic.document_id = node
    order by topic.weight desc, topic.entity_id limit k)
  union all
  (select 'ABOUT' as kind, 'd' || topic.document_id, 'e' || topic.entity_id, 'd' || topic.document_id, topic.weight, null as label
     from ragpg.topic
    where node_kind = 'e' and topic.namespace_id = graph_neighbours.namespace_id and topic.entity_id = node
    order by topic.weight desc, topic.document_id limit k)
  union all
  (select 'MENTIONS' as kind, 'd' || chunk.document_id, 'e' || mention.entity_id, 'e' || mention.entity_id,
          sum(mention.weight)::double precision, max(nullif(mention.description, ''))
     from (select chunk.namespace_id, chunk.id, chunk.document_id from ragpg.chunk
            where node_kind = 'd' and chunk.namespace_id = graph_neighbours.namespace_id and chunk.document_id = node
            order by chunk.ordinal limit 2000) as chunk
     join ragpg.mention on mention.namespace_id = chunk.namespace_id and mention.chunk_id = chunk.id
    group by chunk.document_id, mention.entity_id order by 5 desc, mention.entity_id limit k)
  union all
  (select 'MENTIONS' as kind, 'd' || chunk.document_id, 'e' || node, 'd' || chunk.document_id,
          sum(heaviest.weight)::double precision, max(nullif(heaviest.description, ''))
     from (select mention.chunk_id, mention.weight, mention.description from ragpg.mention
            where node_kind = 'e' and mention.namespace_id = graph_neighbours.namespace_id and mention.entity_id = node
            order by mention.weight desc, mention.chunk_id limit 20::bigint * k) as heaviest
     join ragpg.chunk on chunk.namespace_id = graph_neighbours.namespace_id and chunk.id = heaviest.chunk_id
    group by chunk.document_id order by 5 desc, chunk.document_id limit k)
  union all
  (select 'RELATED' as kind, 'e' || relation.source, 'e' || relation.target, 'e' || relation.target,
          max(relation.weight)::double precision, min(relation.kind)
     from ragpg.relation
    where node_kind = 'e' and relation.namespace_id = graph_neighbours.namespace_id and relation.source = node
    group by relation.source, relation.target order by 5 desc, relation.target limit k)
  union all
  (select 'RELATED' as kind, 'e' || relation.source, 'e' || relation.target, 'e' || relation.source,
          max(relation.weight)::double precision, min(relation.kind)
     from ragpg.relation
    where node_kind = 'e' and relation.namespace_id = graph_neighbours.namespace_id and relation.target = node
    group by relation.source, relation.target order by 5 desc, relation.source limit k)
  union all
  (select 'SHARES' as kind, 'd' || edge.source, 'd' || edge.target, 'd' || edge.target, edge.weight, edge.kind
     from ragpg.edge
    where node_kind = 'd' and edge.namespace_id = graph_neighbours.namespace_id and edge.source = node
    order by edge.weight desc, edge.target limit k)
  union all
  (select 'SHARES' as kind, 'd' || edge.source, 'd' || edge.target, 'd' || edge.source, edge.weight, edge.kind
     from ragpg.edge
    where node_kind = 'd' and edge.namespace_id = graph_neighbours.namespace_id and edge.target = node
    order by edge.weight desc, edge.source limit k);
end;

comment on function ragpg.graph_neighbours(integer, text, bigint, integer) is
$$The neighbours of a document (node_kind d) or an entity (e), k of each kind of edge.

  select * from ragpg.graph_neighbours((ragpg.namespace_ids('{default}'))[1], 'd', 17, 12);

source, target and other are d or e and an id; other is the neighbour. Mentions are summed over the
chunks of a document, the first 2,000 of them.$$;
