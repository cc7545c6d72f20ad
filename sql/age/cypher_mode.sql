-- When a namespace's graph is written: in the transaction of the tables, or by a sync alone.
create or replace function ragpg.cypher_mode(namespace_id integer)
returns text
language sql stable parallel safe
begin atomic
  select coalesce((select namespace.settings ->> 'cypher' from ragpg.namespace
                    where namespace.id = cypher_mode.namespace_id), 'transaction');
end;

comment on function ragpg.cypher_mode(integer) is
$$How the Cypher graph of a namespace is kept: transaction, manual or off; see ragpg.set_cypher_mode().

  select ragpg.cypher_mode((ragpg.namespace_ids('{default}'))[1]);$$;
