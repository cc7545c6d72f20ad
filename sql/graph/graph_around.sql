-- What lies around one document or entity, for people who look at the graph. Strongest first, a
-- bounded number a node, so that a hub does not hide the rest. Needs no AGE.
create or replace function ragpg.graph_around(
  namespace text, start text, hops integer default 1, k integer default 12, most integer default 60)
returns jsonb
language plpgsql stable
set search_path from current
set max_parallel_workers_per_gather = 0
as $$
declare
  owner     integer := (ragpg.namespace_ids(array[namespace]))[1];
  centre    text;
  frontier  text[];
  seen      text[];
  edges     jsonb := '[]';
  found     record;
begin
  -- A source exactly, else an entity by its name, else a title; of several the first.
  select 'd' || document.id into centre from ragpg.document
   where document.namespace_id = owner and document.source = start;
  if centre is null then
    select 'e' || entity.id into centre from ragpg.entity
     where entity.namespace_id = owner and (entity.key = ragpg.entity_key(start) or entity.name = start)
     order by entity.name <> start, entity.id limit 1;
  end if;
  if centre is null then
    select 'd' || document.id into centre from ragpg.document
     where document.namespace_id = owner and lower(document.title) = lower(start)
     order by document.id limit 1;
  end if;
  if centre is null then
    return null;
  end if;

  seen := array[centre];
  frontier := seen;
  for hop in 1 .. least(greatest(hops, 1), 3) loop
    for found in
      select jsonb_agg(jsonb_build_object('kind', best.kind, 'source', best.source, 'target', best.target,
                         'weight', best.weight, 'label', best.label)
                       order by best.weight desc, best.kind, best.source, best.target) as edges,
             array_agg(distinct best.other) as others
        from (
          select step.*, row_number() over (partition by step.other = any (seen) order by step.weight desc, step.other, step.kind) as place
            from unnest(frontier) with ordinality as node (name, place),
                 lateral (select * from ragpg.graph_neighbours(owner, left(node.name, 1), substr(node.name, 2)::bigint, k)) as step
        ) as best
       where best.other = any (seen) or best.place <= most - cardinality(seen)
    loop
      edges := edges || coalesce(found.edges, '[]');
      frontier := array(select other from unnest(found.others) as other where other <> all (seen) order by other);
      seen := seen || frontier;
    end loop;
  end loop;

  return jsonb_build_object(
    'centre', centre,
    'nodes', (
      select jsonb_agg(jsonb_build_object('id', node.name, 'kind', coalesce(entity.kind, 'document'),
                 'name', coalesce(entity.name, nullif(document.title, ''), document.source),
                 'source', document.source) order by node.place)
        from unnest(seen) with ordinality as node (name, place)
        left join ragpg.document on node.name like 'd%' and document.namespace_id = owner
                                and document.id = substr(node.name, 2)::bigint
        left join ragpg.entity on node.name like 'e%' and entity.namespace_id = owner
                              and entity.id = substr(node.name, 2)::bigint),
    -- Seen from both ends, an edge is found twice.
    'edges', (select coalesce(jsonb_agg(distinct edge), '[]') from jsonb_array_elements(edges) as edge));
end $$;

comment on function ragpg.graph_around(text, text, integer, integer, integer) is
$$The nodes and edges around a document (by source or title) or an entity (by name), as JSON; null
where there is none of that name.

  select ragpg.graph_around('default', 'refund.md', hops => 2);

hops  how far, at most 3
k     how many neighbours of a node in each of its kinds of edges, heaviest first
most  how many nodes in all$$;
