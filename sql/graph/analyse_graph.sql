-- What is derived rather than stored, in order: shared terms, PageRank, communities. One analysis
-- of a namespace at a time; searches go on with the one before.
create or replace function ragpg.analyse_graph(namespace text)
returns jsonb
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[analyse_graph.namespace]))[1];
  began timestamptz := clock_timestamp();
  details jsonb;
  documents bigint;
begin
  perform pg_advisory_xact_lock(hashtext('ragpg.analyse_graph'), owner);
  perform ragpg.fold_statistics();
  perform ragpg.find_waiting(owner);
  perform ragpg.remove_orphans(owner);
  perform ragpg.resolve_links(owner);
  details := jsonb_build_object('shared_terms', ragpg.write_shared_terms(owner));
  documents := ragpg.write_pagerank(owner);
  details := details || jsonb_build_object('documents', documents, 'communities', ragpg.write_communities(owner));
  details := details || jsonb_build_object('seconds', round(extract(epoch from clock_timestamp() - began), 3));
  insert into ragpg.graph_state as kept (namespace_id, analysed_at, documents, details)
  values (owner, now(), documents, details)
  on conflict (namespace_id) do update
     set analysed_at = excluded.analysed_at, documents = excluded.documents, details = excluded.details;
  return details;
end $$;

comment on function ragpg.analyse_graph(text) is
$$Computes edges of shared terms, PageRank and communities of a namespace; returns what there is.

  select ragpg.analyse_graph('default');

Run it from time to time; ragpg.graph_status() says how much has changed since.$$;
