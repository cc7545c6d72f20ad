-- AGE writes past triggers and read-only transactions; the counters of the transaction see it.
create or replace function ragpg.cypher_writes(graph text)
returns bigint
language sql volatile
begin atomic
  select coalesce(sum(pg_stat_get_xact_tuples_inserted(pg_class.oid) + pg_stat_get_xact_tuples_updated(pg_class.oid)
                    + pg_stat_get_xact_tuples_deleted(pg_class.oid)), 0)::bigint
    from pg_catalog.pg_class where relnamespace = to_regnamespace(graph) and relkind = 'r';
end;

comment on function ragpg.cypher_writes(text) is
$$How many rows this transaction has written into the labels of a graph.

  select ragpg.cypher_writes(ragpg.cypher_graph_name(1));$$;
