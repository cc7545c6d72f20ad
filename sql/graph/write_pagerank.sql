-- PageRank (Brin & Page 1998) by power iteration over resolved links and titles named, as a random
-- reader would follow them. A title that more than five documents have leads nowhere, as in
-- ragpg.graph_paths(): a thousand that share one would have a million steps. Ranks of a namespace add
-- up to one.
create or replace function ragpg.write_pagerank(
  namespace_id integer, iterations integer default 20, damping double precision default 0.85)
returns bigint
language plpgsql
set search_path from current
-- As in ragpg.salient_terms(): whole tables are joined here, analysed or not.
set enable_nestloop = off
set client_min_messages = warning
as $$
#variable_conflict use_column
declare
  owner integer := write_pagerank.namespace_id;
  nodes bigint;
  lost double precision;
begin
  perform ragpg.refuse_nulls(jsonb_build_object('namespace_id', write_pagerank.namespace_id, 'iterations', write_pagerank.iterations, 'damping', write_pagerank.damping));
  select count(*) into nodes from ragpg.document where document.namespace_id = owner;
  if nodes = 0 then
    return 0;
  end if;
  drop table if exists pg_temp.ragpg_walk, pg_temp.ragpg_rank;
  create temporary table ragpg_walk on commit drop as
    select way.source, way.target, 1.0::double precision / count(*) over (partition by way.source) as share
      from (select link.document_id as source, link.target_id as target from ragpg.link
             where link.namespace_id = owner and link.target_id is not null
             union
            select chunk.document_id, topic.document_id
              from ragpg.mention
              join (select topic.entity_id, topic.document_id, count(*) over (partition by topic.entity_id) as documents
                      from ragpg.topic where topic.namespace_id = owner) as topic
                on topic.entity_id = mention.entity_id and topic.documents <= 5
              join ragpg.chunk on chunk.namespace_id = mention.namespace_id and chunk.id = mention.chunk_id
             where mention.namespace_id = owner and mention.origin = 'titles') as way
     where way.source <> way.target;
  create temporary table ragpg_rank on commit drop as
    select document.id, 1.0::double precision / nodes as rank from ragpg.document where document.namespace_id = owner;
  analyze pg_temp.ragpg_walk;
  analyze pg_temp.ragpg_rank;
  for turn in 1..iterations loop
    -- What stands at a dead end starts anew anywhere.
    select coalesce(sum(held.rank), 0) into lost from pg_temp.ragpg_rank as held
     where not exists (select from pg_temp.ragpg_walk as walk where walk.source = held.id);
    create temporary table ragpg_next on commit drop as
      select held.id, (1 - damping) / nodes + damping * (lost / nodes + coalesce(inflow.rank, 0)) as rank
        from pg_temp.ragpg_rank as held
        left join (select walk.target, sum(walk.share * near.rank) as rank
                     from pg_temp.ragpg_walk as walk join pg_temp.ragpg_rank as near on near.id = walk.source
                    group by 1) as inflow on inflow.target = held.id;
    drop table pg_temp.ragpg_rank;
    alter table pg_temp.ragpg_next rename to ragpg_rank;
  end loop;
  -- In the order in which those who delete lock; what they have deleted meanwhile is left out.
  perform from ragpg.namespace where namespace.id = owner for key share;
  perform from ragpg.document
   where document.namespace_id = owner and document.id in (select held.id from pg_temp.ragpg_rank as held)
   order by document.source for key share;
  insert into ragpg.document_rank as kept (namespace_id, document_id, pagerank)
  select owner, held.id, held.rank from pg_temp.ragpg_rank as held
    join ragpg.document on document.namespace_id = owner and document.id = held.id
   order by held.id
  on conflict on constraint document_rank_pkey do update set pagerank = excluded.pagerank
   where kept.pagerank is distinct from excluded.pagerank;
  drop table pg_temp.ragpg_walk, pg_temp.ragpg_rank;
  return nodes;
end $$;

comment on function ragpg.write_pagerank(integer, integer, double precision) is
$$Computes the PageRank of the documents of a namespace; returns how many there are.

  select ragpg.write_pagerank(1);$$;
