-- The graph is chosen here and the text is checked before, so this may run with the owner's rights:
-- callers need none on AGE, whose functions would show them every graph of the database.
create or replace function ragpg.cypher(
  query text, params jsonb default '{}', namespace text default 'default', timeout_ms integer default 30000)
returns setof jsonb
language plpgsql
security definer
set search_path from current
set max_parallel_workers_per_gather = 0
as $$
declare
  owner   integer := (ragpg.namespace_ids(array[namespace]))[1];
  graph   text := ragpg.cypher_graph_name(owner);
  bound   ag_catalog.agtype;
  plan    record;
  tag     text;
  before  bigint;
  edges   bigint;
  missing text;
  limited boolean := current_setting('transaction_timeout') <> '0';
begin
  perform ragpg.check_access(array[owner]);
  if to_regnamespace(graph) is null then
    raise exception 'namespace "%" has no graph for Cypher', namespace using errcode = 'RG006',
      hint = format('Make it: select * from ragpg.sync_cypher_graph(%L), or ragpg graph sync -n NAMESPACE.', namespace);
  end if;
  if not ragpg.cypher_graph_is_sound(graph) then
    raise exception 'the Cypher graph of namespace "%" was restored from a dump, which AGE does not survive', namespace
      using errcode = 'RG006', hint = format('Make it again: select * from ragpg.sync_cypher_graph(%L), or ragpg graph sync -n NAMESPACE.', namespace);
  end if;
  if params is null or jsonb_typeof(params) <> 'object' then
    raise exception 'Cypher: parameters must be an object' using errcode = 'RG006',
      hint = 'As in ''{"name": "Falcon"}'' for $name.';
  end if;
  plan := ragpg.cypher_plan(query);
  select string_agg('$' || named, ', ') into missing from unnest(plan.parameters) as named where not params ? named;
  if missing is not null then
    raise exception 'Cypher: % has no value', missing using errcode = 'RG006',
      hint = 'Parameters are an object: ''{"name": "Falcon"}'' for $name.';
  end if;
  bound := params::text;
  if plan.walks then
    select sum(greatest(reltuples, 0)) into edges from pg_catalog.pg_class
     where relnamespace = to_regnamespace(graph) and relkind = 'r'
       and oid in (select inhrelid from pg_catalog.pg_inherits where inhparent = format('%I._ag_label_edge', graph)::regclass);
    if edges > 200000 then
      raise exception 'Cypher: paths of variable length are refused in a graph of % edges', edges using errcode = 'RG006',
        hint = 'They would load the whole graph into memory. Write the hops out: (a)-[:LINKS]->(b)-[:LINKS]->(c).';
    end if;
  end if;
  -- The timer of a statement cannot be set from inside of it, that of a transaction can. Where the
  -- session has its own, that one runs already.
  if not limited then
    perform set_config('transaction_timeout', least(greatest(coalesce(timeout_ms, 30000), 1), 600000)::text, true);
  end if;
  before := ragpg.cypher_writes(graph);
  tag := '$cypher_' || md5(random()::text || query) || '$';
  return query execute format(
    'select (select jsonb_object_agg(part.name, ragpg.cypher_value(part.value))
               from unnest($2, array[%s]) as part (name, value))
       from ag_catalog.cypher(%L, %s, $1) as found (%s)',
    (select string_agg(format('ag_catalog.agtype_out(c%s)::text', at), ', ' order by at)
       from generate_series(1, cardinality(plan.columns)) as at),
    graph, tag || ' ' || plan.cypher || ' ' || tag,
    (select string_agg(format('c%s ag_catalog.agtype', at), ', ' order by at)
       from generate_series(1, cardinality(plan.columns)) as at))
    using bound, plan.columns;
  if ragpg.cypher_writes(graph) <> before then
    raise exception 'Cypher: the query changed the graph, which is undone' using errcode = 'RG006',
      hint = 'The graph is read only. Change the documents: the graph follows.';
  end if;
  if not limited then
    perform set_config('transaction_timeout', '0', true);
  end if;
end $$;

comment on function ragpg.cypher(text, jsonb, text, integer) is
$$Rows of a Cypher query over the graph of a namespace, one JSON object a row, keyed by column.

  select * from ragpg.cypher('MATCH (d:Document) RETURN d.title AS title');
  select * from ragpg.cypher('MATCH (d:Document) WHERE d.source = $source RETURN d', '{"source": "refund.md"}');

params      values for $name; never paste a value into the text
timeout_ms  after so long Postgres ends the connection; a lower statement_timeout, which ends only
            the statement, comes first

Labels: Document, Chunk, Entity, Community; PART_OF, NEXT, LINKS, MENTIONS, ABOUT, RELATED, SHARES,
IN_COMMUNITY. Reads only. Raises RG006 with the reason where a query is refused; see docs/cypher.md.$$;
