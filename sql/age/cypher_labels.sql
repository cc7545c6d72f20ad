-- The graph as Cypher sees it: every label, the table it mirrors, and the rows that belong into it.
-- In the text of "rows", %s stands for the table or a transition table, $1 for the namespace. The id
-- of a vertex or edge is label_id << 48 | id.
create or replace function ragpg.cypher_labels()
returns table (label text, kind "char", relation text, source_label text, target_label text, rows text)
language sql immutable parallel safe
begin atomic
  values
    ('Document', 'v'::"char", 'document', null::text, null::text,
     'select item.id, jsonb_build_object(''id'', item.id, ''source'', item.source, ''title'', item.title,
               ''format'', item.format, ''version'', item.version,
               ''metadata'', ragpg.cypher_metadata(item.metadata)) as properties
        from %s as item where item.namespace_id = $1'),
    ('Chunk', 'v', 'chunk', null, null,
     'select item.id, jsonb_strip_nulls(jsonb_build_object(''id'', item.id, ''ordinal'', item.ordinal,
               ''breadcrumb'', item.breadcrumb, ''start_line'', item.start_line, ''end_line'', item.end_line,
               ''page'', item.page)) as properties
        from %s as item where item.namespace_id = $1'),
    ('Entity', 'v', 'entity', null, null,
     'select item.id, jsonb_build_object(''id'', item.id, ''name'', item.name, ''key'', item.key,
               ''kind'', item.kind) as properties
        from %s as item where item.namespace_id = $1'),
    ('Community', 'v', 'community', null, null,
     'select item.id, jsonb_build_object(''id'', item.id, ''name'', item.name, ''size'', item.size,
               ''hub'', item.hub_id) as properties
        from %s as item where item.namespace_id = $1'),
    ('PART_OF', 'e', 'chunk', 'Chunk', 'Document',
     'select item.id, item.id as source, item.document_id as target, ''{}''::jsonb as properties
        from %s as item where item.namespace_id = $1'),
    ('NEXT', 'e', 'chunk', 'Chunk', 'Chunk',
     'select piece.id, piece.id as source, piece.target, ''{}''::jsonb as properties
        from (select item.id, lead(item.id) over (partition by item.document_id order by item.ordinal) as target
                from %s as item where item.namespace_id = $1) as piece
       where piece.target is not null'),
    ('LINKS', 'e', 'link', 'Document', 'Document',
     'select item.id, item.document_id as source, item.target_id as target,
             jsonb_build_object(''target'', item.target, ''anchor'', item.anchor) as properties
        from %s as item where item.namespace_id = $1 and item.target_id is not null'),
    ('MENTIONS', 'e', 'mention', 'Chunk', 'Entity',
     'select item.id, item.chunk_id as source, item.entity_id as target,
             jsonb_build_object(''weight'', item.weight, ''origin'', item.origin,
               ''description'', item.description) as properties
        from %s as item where item.namespace_id = $1'),
    ('ABOUT', 'e', 'topic', 'Document', 'Entity',
     'select item.id, item.document_id as source, item.entity_id as target,
             jsonb_build_object(''weight'', item.weight) as properties
        from %s as item where item.namespace_id = $1'),
    ('RELATED', 'e', 'relation', 'Entity', 'Entity',
     'select item.id, item.source, item.target,
             jsonb_build_object(''kind'', item.kind, ''weight'', item.weight, ''chunk'', item.chunk_id,
               ''description'', item.description) as properties
        from %s as item where item.namespace_id = $1'),
    ('SHARES', 'e', 'edge', 'Document', 'Document',
     'select item.id, item.source, item.target,
             jsonb_build_object(''kind'', item.kind, ''weight'', item.weight) as properties
        from %s as item where item.namespace_id = $1'),
    -- Two tables fill this label: even ids are documents, odd ones entities.
    ('IN_COMMUNITY', 'e', 'document_rank', 'Document', 'Community',
     'select 2 * item.document_id as id, item.document_id as source, item.community_id as target,
             jsonb_build_object(''pagerank'', item.pagerank) as properties
        from %s as item where item.namespace_id = $1 and item.community_id is not null'),
    ('IN_COMMUNITY', 'e', 'entity_rank', 'Entity', 'Community',
     'select 2 * item.entity_id + 1 as id, item.entity_id as source, item.community_id as target,
             jsonb_build_object(''pagerank'', item.pagerank) as properties
        from %s as item where item.namespace_id = $1 and item.community_id is not null');
end;

comment on function ragpg.cypher_labels() is
$$The labels of a Cypher graph, with the table that each mirrors and the query for its rows.

  select label, relation, source_label, target_label from ragpg.cypher_labels();$$;
