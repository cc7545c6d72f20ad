create or replace view ragpg.namespaces as
select namespace.name,
       namespace.kind,
       namespace.text_search_config as language,
       embedding_space.model,
       embedding_space.dimensions,
       (select count(*) from ragpg.document where document.namespace_id = namespace.id) as documents,
       (select count(*) from ragpg.document
         where document.namespace_id = namespace.id and document.error is not null) as failed,
       (select count(*) from ragpg.chunk where chunk.namespace_id = namespace.id) as chunks,
       namespace.created_at
  from ragpg.namespace
  left join ragpg.embedding_space on embedding_space.id = namespace.space_id
 where ragpg.may_use_namespace(namespace.id);

comment on view ragpg.namespaces is
$$Every namespace that the role that asks may use, with its language, embedding model and counts.

  select * from ragpg.namespaces order by name;$$;
