create or replace view ragpg.memories as
select namespace.name as namespace, document.source, chunk.content, memory.key,
       coalesce(memory.remembered_at, document.created_at) as remembered_at,
       coalesce(memory.last_seen_at, document.created_at) as last_seen_at,
       coalesce(memory.seen, 1) as seen,
       newer.source as superseded_by,
       case when newer.id is not null then memory.superseded_at end as superseded_at,
       document.metadata, document.namespace_id, document.id as document_id
  from ragpg.namespace
  join ragpg.document on document.namespace_id = namespace.id
  join ragpg.chunk on chunk.namespace_id = document.namespace_id and chunk.document_id = document.id and chunk.ordinal = 0
  left join ragpg.memory on memory.namespace_id = document.namespace_id and memory.document_id = document.id
  left join ragpg.document as newer on newer.namespace_id = memory.namespace_id and newer.id = memory.superseded_by
 where namespace.kind = 'memory' and ragpg.may_use_namespace(namespace.id);

comment on view ragpg.memories is
$$What is remembered: when, how often it was told, and what took its place.

  select content, last_seen_at from ragpg.memories where superseded_by is null order by last_seen_at desc;$$;
