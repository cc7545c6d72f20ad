-- Personalised PageRank (Haveliwala 2002) near its start: a reader walks from the given documents,
-- follows links and names both ways, and returns every so often. A few steps over a bounded
-- frontier are what matters for a question.
create or replace function ragpg.personalized_pagerank(
  namespace_id integer, documents bigint[], hops integer default 2, fanout integer default 20,
  frontier integer default 50, damping double precision default 0.5)
returns table (document_id bigint, rank double precision)
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  owner integer := personalized_pagerank.namespace_id;
  starts bigint[] := array(select distinct given.id from unnest(documents) as given (id) order by 1);
  near bigint[] := starts;
  held double precision[] := array_fill(1.0::double precision / greatest(cardinality(starts), 1), array[cardinality(starts)]);
begin
  for turn in 1..least(hops, 5) loop
    with node as (
      select held.id, held.rank from unnest(near, held) as held (id, rank)
    ), step as (
      select node.rank, found.id, count(*) over (partition by node.id) as ways
        from node
       cross join lateral ((select link.target_id as id from ragpg.link
                             where link.namespace_id = owner and link.document_id = node.id and link.target_id is not null
                             order by link.target, link.anchor limit fanout)
                            union all
                           (select link.document_id from ragpg.link
                             where link.namespace_id = owner and link.target_id = node.id
                             order by link.document_id limit fanout)
                            union all
                           (select edge.target from ragpg.edge where edge.namespace_id = owner and edge.source = node.id
                             order by edge.weight desc, edge.target limit fanout)
                            union all
                           (select edge.source from ragpg.edge where edge.namespace_id = owner and edge.target = node.id
                             order by edge.weight desc, edge.source limit fanout)
                            union all
                           (select topic.document_id
                              from ragpg.chunk
                              join ragpg.mention on mention.namespace_id = owner and mention.chunk_id = chunk.id
                              join ragpg.topic on topic.namespace_id = owner and topic.entity_id = mention.entity_id
                             where chunk.namespace_id = owner and chunk.document_id = node.id limit fanout)
                            union all
                           (select chunk.document_id
                              from ragpg.topic
                              join ragpg.mention on mention.namespace_id = owner and mention.entity_id = topic.entity_id
                              join ragpg.chunk on chunk.namespace_id = owner and chunk.id = mention.chunk_id
                             where topic.namespace_id = owner and topic.document_id = node.id limit fanout)) as found
    ), reached as (
      select flow.id, sum(flow.rank) as rank
        from (select step.id, damping * step.rank / step.ways as rank from step
               union all
              select start.id, (1 - damping) / cardinality(starts) from unnest(starts) as start (id)) as flow
       group by 1
       order by 2 desc, 1
       limit case when turn < hops then frontier else 1000 end
    )
    select array_agg(reached.id), array_agg(reached.rank) into near, held from reached;
  end loop;
  return query select held.id, held.rank from unnest(near, held) as held (id, rank) order by 2 desc, 1;
end $$;

comment on function ragpg.personalized_pagerank(integer, bigint[], integer, integer, integer, double precision) is
$$Documents near some documents in the graph, most visited first; the given ones are among them.

  select * from ragpg.personalized_pagerank(1, '{17,4}');

hops      steps of the walk, at most 5
fanout    so many edges a document, kind and direction
frontier  so many documents are walked from in each step
damping   how much of the walk goes on; the rest returns to the start$$;
