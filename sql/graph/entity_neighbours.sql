-- By exact name first, so that names which differ in their signs alone are told apart as written.
create or replace function ragpg.entity_neighbours(namespace text, names text[], k integer default 20)
returns table (name text, kind text, neighbour text, weight double precision)
language sql stable
begin atomic
  select asked.name, found.kind, entity.name, found.weight
    from unnest(names) with ordinality as asked (name, place)
    join ragpg.entity as centre on centre.namespace_id = any (ragpg.namespace_ids(array[namespace]))
                               and centre.key = ragpg.entity_key(asked.name)
   cross join lateral (select step.kind, step.id, sum(step.weight)::double precision as weight
                         from (select relation.kind, relation.target as id, relation.weight from ragpg.relation
                                where relation.namespace_id = centre.namespace_id and relation.source = centre.id
                                union all
                               select relation.kind, relation.source, relation.weight from ragpg.relation
                                where relation.namespace_id = centre.namespace_id and relation.target = centre.id) as step
                        where step.id <> centre.id
                        group by 1, 2
                        order by 3 desc, 1, 2
                        limit k) as found
    join ragpg.entity on entity.namespace_id = centre.namespace_id and entity.id = found.id
   order by asked.place, found.weight desc, entity.name, found.kind;
end;

comment on function ragpg.entity_neighbours(text, text[], integer) is
$$Entities that stand in a relation to some entities, either way.

  select * from ragpg.entity_neighbours('default', '{Orion}');

Column name is the name as it was asked for.$$;
