create or replace function ragpg.graph_status(namespaces text[] default null)
returns table (namespace text, documents bigint, entities bigint, mentions bigint, relations bigint,
  links bigint, resolved bigint, ambiguous bigint, shared_terms bigint, communities bigint,
  analysed_at timestamptz, changed_since bigint, titles_waiting bigint)
language sql stable
begin atomic
  select space.name,
         (select count(*) from ragpg.document where document.namespace_id = space.id),
         (select count(*) from ragpg.entity where entity.namespace_id = space.id),
         (select count(*) from ragpg.mention where mention.namespace_id = space.id),
         (select count(*) from ragpg.relation where relation.namespace_id = space.id),
         count(link.target), count(link.target_id), count(*) filter (where link.matches > 1),
         (select count(*) from ragpg.edge where edge.namespace_id = space.id),
         (select count(*) from ragpg.community where community.namespace_id = space.id),
         state.analysed_at,
         (select counted.changed from ragpg.graph_changes(space.id) as counted),
         (select count(*) from ragpg.phrase where phrase.namespace_id = space.id and phrase.waits)
    from ragpg.namespace as space
    left join ragpg.graph_state as state on state.namespace_id = space.id
    left join ragpg.link on link.namespace_id = space.id
   where (namespaces is null or space.id = any (ragpg.namespace_ids(namespaces)))
     and ragpg.may_use_namespace(space.id)
   group by space.id, space.name, state.analysed_at
   order by space.name;
end;

comment on function ragpg.graph_status(text[]) is
$$The graph of each namespace in numbers.

  select * from ragpg.graph_status();

ambiguous       links that may mean several documents, so that none was taken
changed_since   documents new, changed or gone since the last analysis
titles_waiting  titles of common words that chunks from before them were not searched for: the analysis does$$;
