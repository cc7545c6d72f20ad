create or replace function ragpg.stale_graphs(namespaces text[] default null, share double precision default 0.1)
returns table (namespace text, documents bigint, changed bigint, analysed_at timestamptz)
language sql stable
begin atomic
  select space.name, counted.documents, counted.changed, state.analysed_at
    from ragpg.namespace as space
    left join ragpg.graph_state as state on state.namespace_id = space.id
   cross join lateral (
     -- Changed and new ones, and those that are gone. What a transaction from before the analysis has
     -- brought while that ran is older and yet new: it has no rank.
     select count(*) as documents,
            count(*) filter (where state.analysed_at is null or document.updated_at > state.analysed_at
                                or rank.pagerank is null or rank.pagerank = 0)
            + greatest(coalesce(state.documents, 0) - count(*) filter (where rank.pagerank > 0), 0) as changed
       from ragpg.document
       left join ragpg.document_rank as rank on rank.namespace_id = document.namespace_id and rank.document_id = document.id
      where document.namespace_id = space.id) as counted
   where space.kind = 'knowledge'
     and (namespaces is null or space.id = any (ragpg.namespace_ids(namespaces)))
     and ragpg.may_use_namespace(space.id)
     and counted.changed > 0 and counted.changed >= share * counted.documents
   order by space.name;
end;

comment on function ragpg.stale_graphs(text[], double precision) is
$$Namespaces of which much has changed since the last analysis, or which never had one.

  select * from ragpg.stale_graphs();

share    of the documents that have to have changed, from 0 to 1
changed  documents new, changed or gone since$$;
