create or replace function ragpg.community_relations(namespace text, community_id bigint, k integer default 40)
returns table (source text, kind text, target text, description text, weight real, chunks bigint)
language sql stable
begin atomic
  select one.name, relation.kind, other.name,
         (array_agg(relation.description order by relation.weight desc, relation.chunk_id))[1],
         sum(relation.weight)::real, count(*)
    from unnest(ragpg.namespace_ids(array[community_relations.namespace])) as owner (id)
    join ragpg.document_rank as rank on rank.namespace_id = owner.id and rank.community_id = community_relations.community_id
    join ragpg.chunk on chunk.namespace_id = owner.id and chunk.document_id = rank.document_id
    join ragpg.relation on relation.namespace_id = owner.id and relation.chunk_id = chunk.id
    join ragpg.entity as one on one.namespace_id = owner.id and one.id = relation.source
    join ragpg.entity as other on other.namespace_id = owner.id and other.id = relation.target
   group by one.id, one.name, relation.kind, other.id, other.name
   order by 5 desc, one.name, relation.kind, other.name
   limit k;
end;

comment on function ragpg.community_relations(text, bigint, integer) is
$$The relations that a community's documents state most, where a model has extracted any.

  select * from ragpg.community_relations('default', 42);$$;
