create or replace function ragpg.set_cypher_mode(namespace text, mode text)
returns void
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
begin
  if mode is null or mode not in ('transaction', 'manual', 'off') then
    raise exception 'Cypher mode "%" does not exist', mode
      using errcode = 'RG005', hint = 'It is transaction, manual or off.';
  end if;
  update ragpg.namespace set settings = jsonb_set(settings, '{cypher}', to_jsonb(mode)) where namespace.id = owner;
  if mode = 'off' then
    perform ragpg.drop_cypher_graph(namespace);
  end if;
end $$;

comment on function ragpg.set_cypher_mode(text, text) is
$$Chooses how the Cypher graph of a namespace follows its tables.

  select ragpg.set_cypher_mode('default', 'transaction');

transaction  every statement that changes the tables changes the graph with them; the default
manual       ragpg.sync_cypher_graph() alone does: for large loads
off          there is no graph; one that exists is dropped

After a change to transaction, call ragpg.sync_cypher_graph() once.$$;
