-- What is derived rather than stored. One analysis of a namespace at a time; searches go on with the
-- one before.
create or replace function ragpg.analyse_graph(namespace text)
returns jsonb
language plpgsql
set search_path from current
as $$
declare
  details jsonb := '{}';
  part text;
begin
  perform pg_advisory_xact_lock(hashtext('ragpg.analyse_graph'), (ragpg.namespace_ids(array[analyse_graph.namespace]))[1]);
  foreach part in array array['names', 'terms', 'pagerank', 'communities'] loop
    details := ragpg.analyse_part(analyse_graph.namespace, part, now(), details);
  end loop;
  return details;
end $$;

comment on function ragpg.analyse_graph(text) is
$$Computes edges of shared terms, PageRank and communities of a namespace; returns what there is.

  select ragpg.analyse_graph('default');

`ragpg worker` and `ragpg watch` run it when they are idle; ragpg.stale_graphs() says where much has
changed since.$$;
