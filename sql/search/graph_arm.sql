-- Documents that the seeds' documents link to, and those that link to them; the first chunk of
-- each that passes the filter. Links name their targets, so the order of loading does not matter.
create or replace function ragpg.graph_arm(
  seeds bigint[], namespace_ids integer[], filter jsonb, k integer)
returns setof ragpg.arm_hit
language plpgsql stable
set search_path from current
as $$
begin
  if k <= 0 or coalesce(cardinality(seeds), 0) = 0 or cardinality(namespace_ids) = 0 then
    return;
  end if;
  return query execute format(
    'with seed as (
       select chunk.namespace_id, chunk.document_id, document.source, min(given.place) as place
         from unnest($1) with ordinality as given (id, place)
         join ragpg.chunk on chunk.namespace_id = any ($2) and chunk.id = given.id
         join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
        group by 1, 2, 3
     ), neighbour as (
       -- Two index scans, one for each direction, 50 links a document at most.
       select seed.namespace_id, hop.document_id, sum(hop.weight / seed.place) as weight
         from seed,
              lateral ((select aim.id as document_id, 1.0 as weight from ragpg.link
                          join ragpg.document as aim on aim.namespace_id = link.namespace_id and aim.source = link.target
                         where link.namespace_id = seed.namespace_id and link.document_id = seed.document_id
                         order by link.target, link.anchor limit 50)
                        union all
                       (select link.document_id, 0.5 from ragpg.link
                         where link.namespace_id = seed.namespace_id and link.target = seed.source
                         order by link.document_id, link.anchor limit 50)) as hop
        group by 1, 2
     )
     select ''graph'', opening.namespace_id, opening.id,
            (row_number() over (order by neighbour.weight desc, opening.id))::integer,
            neighbour.weight::double precision, null::text, 1::double precision
       from neighbour,
            lateral (select chunk.namespace_id, chunk.id from ragpg.chunk
                      where chunk.namespace_id = neighbour.namespace_id
                        and chunk.document_id = neighbour.document_id and %s
                      order by chunk.ordinal limit 1) as opening
      where not exists (select 1 from seed where seed.namespace_id = neighbour.namespace_id
                           and seed.document_id = neighbour.document_id)
      order by 4 limit %s', ragpg.filter_sql(filter), k)
    using seeds, namespace_ids;
end $$;

comment on function ragpg.graph_arm(bigint[], integer[], jsonb, integer) is
$$Chunks one link away from the documents of seed chunks: ids and weights; ragpg.graph_search() has the text.

  select * from ragpg.graph_arm('{17,4}', ragpg.namespace_ids('{default}'), null, 10);

seeds  chunk ids, most important first$$;
