-- Label propagation (Raghavan et al. 2007), made deterministic: in every turn one half, chosen by a
-- hash, hears the labels of the turn before (all at once would swap labels for ever); its own label
-- counts a little, and of equal labels the lower wins. Links, titles named (that five documents have
-- at most, see ragpg.write_pagerank()) and shared terms carry labels. Documents without edges belong
-- to no community.
create or replace function ragpg.write_communities(namespace_id integer, iterations integer default 20)
returns bigint
language plpgsql
set search_path from current
-- As in ragpg.salient_terms(): whole tables are joined here, analysed or not.
set enable_nestloop = off
set client_min_messages = warning
as $$
#variable_conflict use_column
declare
  owner integer := write_communities.namespace_id;
  moved bigint;
  quiet integer := 0;
  written bigint;
  standing bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('namespace_id', write_communities.namespace_id, 'iterations', write_communities.iterations));
  drop table if exists pg_temp.ragpg_tie, pg_temp.ragpg_label;
  create temporary table ragpg_tie on commit drop as
    with way as (
      select link.document_id as source, link.target_id as target, 1.0::double precision as weight from ragpg.link
       where link.namespace_id = owner and link.target_id is not null
       union all
      select chunk.document_id, topic.document_id, 1.0
        from ragpg.mention
        join (select topic.entity_id, topic.document_id, count(*) over (partition by topic.entity_id) as documents
                from ragpg.topic where topic.namespace_id = owner) as topic
          on topic.entity_id = mention.entity_id and topic.documents <= 5
        join ragpg.chunk on chunk.namespace_id = mention.namespace_id and chunk.id = mention.chunk_id
       where mention.namespace_id = owner and mention.origin = 'titles'
       union all
      select edge.source, edge.target, 0.5 from ragpg.edge where edge.namespace_id = owner
    )
    select both_ways.source, both_ways.target, sum(both_ways.weight) as weight
      from (select way.* from way union all select way.target, way.source, way.weight from way) as both_ways
     where both_ways.source <> both_ways.target
     group by 1, 2;
  create temporary table ragpg_label on commit drop as
    select distinct tie.source as id, tie.source as label from pg_temp.ragpg_tie as tie;
  analyze pg_temp.ragpg_tie;
  analyze pg_temp.ragpg_label;
  for turn in 1..iterations loop
    create temporary table ragpg_next on commit drop as
      select own.id, own.label from pg_temp.ragpg_label as own where hashint8extended(own.id, turn) & 1 = 1
       union all
      (select distinct on (vote.id) vote.id, vote.label
        from (select heard.id, heard.label, sum(heard.weight) as weight
                from (select tie.source as id, far.label, tie.weight
                        from pg_temp.ragpg_tie as tie join pg_temp.ragpg_label as far on far.id = tie.target
                       union all
                      select own.id, own.label, 0.5 from pg_temp.ragpg_label as own) as heard
               where hashint8extended(heard.id, turn) & 1 = 0
               group by 1, 2) as vote
       order by vote.id, vote.weight desc, vote.label);
    select count(*) into moved from pg_temp.ragpg_next as now join pg_temp.ragpg_label as former using (id)
     where now.label <> former.label;
    drop table pg_temp.ragpg_label;
    alter table pg_temp.ragpg_next rename to ragpg_label;
    quiet := case when moved = 0 then quiet + 1 else 0 end;
    exit when quiet = 4;
  end loop;

  -- In the order in which those who delete lock: the namespace, documents by source, entities. All of
  -- them, because a community that goes is taken from the rows of its former members too.
  perform from ragpg.namespace where namespace.id = owner for key share;
  perform from ragpg.document where document.namespace_id = owner order by document.source for key share;
  standing := array(select entity.id from ragpg.entity where entity.namespace_id = owner order by entity.id for key share);
  -- A community is the same one while its members are, whatever its number. What has been deleted
  -- meanwhile is left out.
  with member as (
    select held.label, held.id from pg_temp.ragpg_label as held
      join ragpg.document on document.namespace_id = owner and document.id = held.id
  ), made as (
    select member.label, count(*)::integer as size,
           sha256(convert_to(string_agg(member.id::text, ',' order by member.id), 'UTF8')) as digest,
           (array_agg(member.id order by coalesce(rank.pagerank, 0) desc, member.id))[1] as hub_id
      from member
      left join ragpg.document_rank as rank on rank.namespace_id = owner and rank.document_id = member.id
     group by 1
    having count(*) > 1
  ), gone as (
    delete from ragpg.community as old
     where old.namespace_id = owner and not exists (select from made where made.digest = old.digest)
  ), fresh as (
    insert into ragpg.community (namespace_id, name, size, hub_id, digest)
    select owner, coalesce(nullif(document.title, ''), document.source), made.size, made.hub_id, made.digest
      from made join ragpg.document on document.namespace_id = owner and document.id = made.hub_id
     where not exists (select from ragpg.community as old where old.namespace_id = owner and old.digest = made.digest)
     order by made.label
    returning community.id, community.digest
  ), numbered as (
    select fresh.id, fresh.digest from fresh
     union all
    select old.id, old.digest from ragpg.community as old join made on made.digest = old.digest where old.namespace_id = owner
  ), placed as (
    select member.id as document_id, numbered.id as community_id
      from member join made using (label) join numbered using (digest)
  )
  insert into ragpg.document_rank as kept (namespace_id, document_id, community_id)
  select owner, placed.document_id, placed.community_id from placed order by 2
  on conflict on constraint document_rank_pkey do update set community_id = excluded.community_id
   where kept.community_id is distinct from excluded.community_id;
  -- An entity belongs where most of those who name it do.
  insert into ragpg.entity_rank as kept (namespace_id, entity_id, community_id)
  select distinct on (counted.entity_id) owner, counted.entity_id, counted.community_id
    from (select named.entity_id, rank.community_id, count(*) as times
            from (select mention.entity_id, chunk.document_id from ragpg.mention
                    join ragpg.chunk on chunk.namespace_id = mention.namespace_id and chunk.id = mention.chunk_id
                   where mention.namespace_id = owner
                   union all
                  select topic.entity_id, topic.document_id from ragpg.topic where topic.namespace_id = owner) as named
            join ragpg.document_rank as rank on rank.namespace_id = owner and rank.document_id = named.document_id
           where rank.community_id is not null
           group by 1, 2) as counted
    -- One that has come since is not locked, and may go again.
    join unnest(standing) as present (id) on present.id = counted.entity_id
   order by counted.entity_id, counted.times desc, counted.community_id
  on conflict on constraint entity_rank_pkey do update set community_id = excluded.community_id
   where kept.community_id is distinct from excluded.community_id;
  drop table pg_temp.ragpg_tie, pg_temp.ragpg_label;
  select count(*) into written from ragpg.community where community.namespace_id = owner;
  return written;
end $$;

comment on function ragpg.write_communities(integer, integer) is
$$Finds the communities of a namespace's documents; returns how many there are.

  select ragpg.write_communities(1);

A community is named after its hub, the member of the highest PageRank; its digest tells whether its
members are still the same.$$;
