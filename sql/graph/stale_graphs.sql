create or replace function ragpg.stale_graphs(namespaces text[] default null, share double precision default 0.1)
returns table (namespace text, documents bigint, changed bigint, analysed_at timestamptz)
language sql stable
begin atomic
  select space.name, counted.documents, counted.changed, counted.analysed_at
    from ragpg.namespace as space
   cross join lateral ragpg.graph_changes(space.id) as counted
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
