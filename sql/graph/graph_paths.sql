-- What the graph has to say on a question, as documents and chunks with a weight and a reason. The
-- further a kind of step is from an answer, the higher its tier: 1 the title of a document is named
-- in the question or in a hit, or a hit's title in a chunk; 2 links; 3 chunks that name a rare entity
-- of a hit; 4 the hub of a hit's community. A name counts less the more often it is mentioned. What
-- extractors find in a text stays out of tier 1: it costs a two-hop question 0.045 of recall@5 there.
-- Offset 0 keeps the order of the steps, from few rows into large tables: a plan that is kept once
-- read all entities of the namespace to name ten of them.
create or replace function ragpg.graph_paths(
  seeds bigint[], namespace_ids integer[], query text default null, fanout integer default 50)
returns table (tier integer, namespace_id integer, document_id bigint, chunk_id bigint, weight double precision, path text, place bigint)
language plpgsql stable
-- Its plan is kept: to plan takes longer than to run.
set plan_cache_mode = force_generic_plan
set search_path from current
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  -- Side by side: the seeds, what was heard, what the seeds are about.
  seed_owners integer[];
  seed_chunks bigint[];
  seed_papers bigint[];
  seed_sources text[];
  seed_places bigint[];
  owners integer[];
  entities bigint[];
  weights double precision[];
  sources text[];
  places bigint[];
  papers bigint[];
  titles boolean[];
  about_owners integer[];
  about_entities bigint[];
  about_sources text[];
  about_places bigint[];
begin
  if cardinality(graph_paths.seeds) > 0 then
    select array_agg(chunk.namespace_id), array_agg(chunk.id), array_agg(chunk.document_id),
           array_agg(document.source collate "default"), array_agg(given.place)
      into seed_owners, seed_chunks, seed_papers, seed_sources, seed_places
      from unnest(graph_paths.seeds) with ordinality as given (id, place)
      join ragpg.chunk on chunk.namespace_id = any (graph_paths.namespace_ids) and chunk.id = given.id
      join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id;
  end if;
  -- Entities that the question or a seed names.
  select array_agg(heard.namespace_id), array_agg(heard.entity_id), array_agg(heard.weight), array_agg(heard.source),
         array_agg(heard.place), array_agg(heard.document_id), array_agg(heard.is_title)
    into owners, entities, weights, sources, places, papers, titles
    from (select named.namespace_id, named.entity_id, 1.0::double precision as weight, 'question'::text as source, 0::bigint as place,
                 null::bigint as document_id, true as is_title
            from ragpg.named_entities(graph_paths.query, graph_paths.namespace_ids) as named
           union all
          select seed.namespace_id, found.entity_id, 1.0::double precision / seed.place, seed.source, seed.place, seed.document_id, found.is_title
            from unnest(seed_owners, seed_chunks, seed_papers, seed_sources, seed_places)
              as seed (namespace_id, chunk_id, document_id, source, place)
           cross join lateral (select mention.entity_id, bool_or(mention.origin = 'titles') as is_title from ragpg.mention
                                where mention.namespace_id = seed.namespace_id and mention.chunk_id = seed.chunk_id
                                group by 1 order by 2 desc, 1 limit graph_paths.fanout) as found) as heard;
  select array_agg(seed.namespace_id), array_agg(found.entity_id), array_agg(seed.source), array_agg(seed.place)
    into about_owners, about_entities, about_sources, about_places
    from unnest(seed_owners, seed_papers, seed_sources, seed_places) as seed (namespace_id, document_id, source, place)
   cross join lateral (select topic.entity_id from ragpg.topic
                        where topic.namespace_id = seed.namespace_id and topic.document_id = seed.document_id offset 0) as found;
  if entities is not null or about_entities is not null then
    return query
    with heard as materialized (
      select * from unnest(owners, entities, weights, sources, places, papers, titles)
                 as heard (namespace_id, entity_id, weight, source, place, document_id, is_title)
    ), about as materialized (
      select * from unnest(about_owners, about_entities, about_sources, about_places)
                 as about (namespace_id, entity_id, source, place)
    ), known as materialized (
      select counted.namespace_id, counted.entity_id, entity.name, counted.mentions, counted.documents
        from (select one.namespace_id, one.entity_id,
                     (select count(distinct counted_mention.chunk_id) from (select mention.chunk_id from ragpg.mention
                       where mention.namespace_id = one.namespace_id and mention.entity_id = one.entity_id limit 200) as counted_mention) as mentions,
                     (select count(*) from (select from ragpg.topic
                       where topic.namespace_id = one.namespace_id and topic.entity_id = one.entity_id limit 6) as counted_topic) as documents
                from (select heard.namespace_id, heard.entity_id from heard
                       union
                      select about.namespace_id, about.entity_id from about) as one) as counted
       cross join lateral (select found.name from ragpg.entity as found
                            where found.namespace_id = counted.namespace_id and found.id = counted.entity_id offset 0) as entity
    )
    -- 1: to the documents that are about what was heard; a title that many share says nothing.
    select 1, heard.namespace_id, topic.document_id, null::bigint,
           heard.weight / case when heard.place = 0 then 1 else greatest(1, ln(1 + known.mentions) / ln(2)) end,
           heard.source || ' names ' || known.name, heard.place
      from heard
      join known using (namespace_id, entity_id)
     cross join lateral (select found.document_id from ragpg.topic as found
                          where found.namespace_id = heard.namespace_id and found.entity_id = heard.entity_id offset 0) as topic
     where heard.is_title and known.documents <= 5 and topic.document_id is distinct from heard.document_id
     union all
    -- 1: to the chunks that name what a seed is about.
    select 1, about.namespace_id, null, found.chunk_id,
           0.5 / about.place / greatest(1, ln(1 + known.mentions) / ln(2)), 'names ' || known.name || ' of ' || about.source, about.place
      from about
      join known using (namespace_id, entity_id)
     cross join lateral (select mention.chunk_id from ragpg.mention
                          where mention.namespace_id = about.namespace_id and mention.entity_id = about.entity_id and mention.origin = 'titles'
                          order by mention.weight desc, mention.chunk_id limit graph_paths.fanout) as found
     where known.mentions < 200
   union all
    -- 3: chunks that name a rare entity of a seed, and what extracted relations lead to.
    select 3, heard.namespace_id, null, found.chunk_id, heard.weight / (1 + known.mentions), heard.source || ' also names ' || known.name, heard.place
      from heard
      join known using (namespace_id, entity_id)
     cross join lateral (select distinct mention.chunk_id, mention.weight from ragpg.mention
                          where mention.namespace_id = heard.namespace_id and mention.entity_id = heard.entity_id
                          order by mention.weight desc, mention.chunk_id limit 20) as found
     where known.mentions between 2 and 20
     union all
    select 3, heard.namespace_id, null, found.chunk_id, heard.weight * 0.5,
           known.name || ' ' || (found.kind collate "default"), heard.place
      from heard
      join known using (namespace_id, entity_id)
     cross join lateral ((select relation.chunk_id, relation.kind from ragpg.relation
                           where relation.namespace_id = heard.namespace_id and relation.source = heard.entity_id
                           order by relation.weight desc, relation.target limit 20)
                          union all
                         (select relation.chunk_id, relation.kind from ragpg.relation
                           where relation.namespace_id = heard.namespace_id and relation.target = heard.entity_id
                           order by relation.weight desc, relation.source limit 20)) as found;
  end if;
  if seed_chunks is not null then
    return query
    with seed as materialized (
      select * from unnest(seed_owners, seed_papers, seed_sources, seed_places) as seed (namespace_id, document_id, source, place)
    )
    -- 2: links, both ways by index. Where two writers met, one may have missed the other's document:
    -- a link that leads nowhere is tried once more by its very target.
    select 2, seed.namespace_id, found.id, null::bigint, 1.0 / seed.place, seed.source || ' links here', seed.place
      from seed
     cross join lateral (select distinct coalesce(link.target_id, aim.id) as id
                           from (select * from ragpg.link
                                  where link.namespace_id = seed.namespace_id and link.document_id = seed.document_id
                                  order by link.target limit 4 * graph_paths.fanout) as link
                           left join lateral (select document.id from ragpg.document
                                               where link.matches = 0 and document.namespace_id = link.namespace_id
                                                 and document.source = link.target offset 0) as aim on true
                          order by 1 limit graph_paths.fanout) as found
     where found.id <> seed.document_id
     union all
    select 2, seed.namespace_id, found.id, null, 0.5 / seed.place, 'links to ' || seed.source, seed.place
      from seed
     cross join lateral ((select distinct link.document_id as id from ragpg.link
                           where link.namespace_id = seed.namespace_id and link.target_id = seed.document_id
                           order by 1 limit graph_paths.fanout)
                          union
                         (select link.document_id from ragpg.link
                           where link.namespace_id = seed.namespace_id and link.target = seed.source collate "C" and link.matches = 0
                           order by 1 limit graph_paths.fanout)) as found
     where found.id <> seed.document_id
     union all
    -- 3: documents that share rare terms, as of the last analysis.
    select 3, seed.namespace_id, found.document_id, null, 0.2 * found.weight / seed.place, 'shares rare terms with ' || seed.source, seed.place
      from seed
     cross join lateral ((select edge.target as document_id, edge.weight from ragpg.edge
                           where edge.namespace_id = seed.namespace_id and edge.source = seed.document_id
                           order by edge.weight desc, edge.target limit 10)
                          union all
                         (select edge.source, edge.weight from ragpg.edge
                           where edge.namespace_id = seed.namespace_id and edge.target = seed.document_id
                           order by edge.weight desc, edge.source limit 10)) as found
     union all
    -- 4: the hub of the seed's community.
    select 4, seed.namespace_id, community.hub_id, null, 1.0 / seed.place, 'hub of the community of ' || seed.source, seed.place
      from seed
     cross join lateral (select found.community_id from ragpg.document_rank as found
                          where found.namespace_id = seed.namespace_id and found.document_id = seed.document_id offset 0) as rank
     cross join lateral (select found.hub_id from ragpg.community as found
                          where found.namespace_id = seed.namespace_id and found.id = rank.community_id offset 0) as community
     where community.hub_id <> seed.document_id and seed.place <= 3;
  end if;
end $$;

comment on function ragpg.graph_paths(bigint[], integer[], text, integer) is
$$One step in the graph from a question and from the chunks found so far: where it leads, and why.

  select * from ragpg.graph_paths('{17,4}', ragpg.namespace_ids('{default}'), 'Who made Orion?');

seeds   chunk ids, most important first
fanout  so many edges a node and kind are followed

Column place says which seed the step starts from, the first is 1; 0 is the question.$$;
