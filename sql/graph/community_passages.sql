-- The beginning of every document comes before the second chunk of any.
create or replace function ragpg.community_passages(namespace text, community_id bigint, k integer default 60)
returns table (source text, title text, breadcrumb text, content text)
language sql stable
begin atomic
  select document.source, document.title, chunk.breadcrumb, chunk.content
    from unnest(ragpg.namespace_ids(array[community_passages.namespace])) as owner (id)
    join ragpg.document_rank as rank on rank.namespace_id = owner.id and rank.community_id = community_passages.community_id
    join ragpg.document on document.namespace_id = owner.id and document.id = rank.document_id
    join ragpg.chunk on chunk.namespace_id = owner.id and chunk.document_id = document.id
   order by chunk.ordinal, rank.pagerank desc, document.source
   limit k;
end;

comment on function ragpg.community_passages(text, bigint, integer) is
$$What a community's documents say, in the order in which a report on it reads them.

  select source, left(content, 60) from ragpg.community_passages('default', 42, k => 10);$$;
