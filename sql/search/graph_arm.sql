-- The graph's ranking: tiers one below the other, inside of them by the sum of weights. Ranks leave
-- room between tiers, so that links alone never weigh as much in the fusion as a name. Documents
-- are shown by the chunk that a seed has of them, else by the one that fits the question best.
create or replace function ragpg.graph_arm(
  seeds bigint[], namespace_ids integer[], filter jsonb, k integer, query text default null,
  hops integer default 1, with_seeds boolean default false)
returns setof ragpg.arm_hit
language plpgsql stable
-- Plans are kept: to plan takes longer than to run.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set max_parallel_workers_per_gather = 0
set search_path from current
as $$
#variable_conflict use_column
declare
  -- What a step weighs by its tier.
  shares constant double precision[] := '{1, 0.1, 0.01, 0.001, 0.0001, 0.00001}';
  weights sparsevec;
  owners integer[];
  documents bigint[];
  tiers integer[];
  sums double precision[];
  paths text[];
  chunks bigint[];
  allowed bigint[];
  openings text[];
begin
  if k is null then
    raise exception 'k cannot be null' using errcode = 'RG005', hint = 'Leave it out, or give a whole number.';
  end if;
  if hops in (1, 2) is not true then
    raise exception 'hops is 1 or 2, not %', hops using errcode = 'RG005';
  end if;
  if k <= 0 or cardinality(namespace_ids) = 0
     or coalesce(cardinality(seeds), 0) = 0 and coalesce(query, '') !~ '\S' then
    return;
  end if;
  select array_agg(step.namespace_id), array_agg(step.document_id), array_agg(step.tier), array_agg(step.weight),
         array_agg(step.path), array_agg(step.chunk_id)
    into owners, documents, tiers, sums, paths, chunks
    from ragpg.graph_paths(graph_arm.seeds[1:5], graph_arm.namespace_ids, graph_arm.query) as step;
  if owners is null then
    return;
  end if;
  with step as materialized (
    select * from unnest(owners, documents, tiers, sums, paths, chunks) as step (namespace_id, document_id, tier, weight, path, chunk_id)
  ), again as (
    select step.tier, step.namespace_id, step.document_id, step.chunk_id, step.weight, step.path from step
     union all
    -- The reason is the whole way, with the document that the first step led to in brackets.
    select further.tier + 2, further.namespace_id, further.document_id, further.chunk_id, further.weight / 4,
           frontier.paths[further.place] || further.path
      from (select array_agg(reached.chunk_id order by reached.weight desc, reached.chunk_id) as chunks,
                   array_agg(reached.path || ' (' || coalesce(turn.source, '?') || '), '
                             order by reached.weight desc, reached.chunk_id) as paths
              from (select coalesce(step.chunk_id, opening.id) as chunk_id, sum(step.weight order by step.weight) as weight,
                           (array_agg(step.path order by step.tier, step.weight desc, step.path))[1] as path
                      from step
                      left join lateral (select chunk.id from ragpg.chunk
                                          where step.chunk_id is null and chunk.namespace_id = step.namespace_id
                                            and chunk.document_id = step.document_id
                                          order by chunk.ordinal limit 1) as opening on true
                     group by 1 order by 2 desc, 1 limit 20) as reached
              left join lateral (select document.source collate "default" as source from ragpg.chunk
                                   join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
                                  where chunk.namespace_id = any (graph_arm.namespace_ids) and chunk.id = reached.chunk_id
                                 offset 0) as turn on true) as frontier,
           ragpg.graph_paths(frontier.chunks, graph_arm.namespace_ids, null, 20) as further
     where graph_arm.hops > 1
  ), owner as (
    -- All in one scan: many steps lead to the same chunks.
    select chunk.namespace_id, chunk.id, chunk.document_id from ragpg.chunk
     where chunk.namespace_id = any (graph_arm.namespace_ids)
       and chunk.id = any (array(select distinct again.chunk_id from again where again.document_id is null))
    offset 0
  ), reached as (
    select again.tier, again.weight, again.path, again.namespace_id, again.chunk_id,
           coalesce(again.document_id, owner.document_id) as document_id
      from again
      left join owner on again.document_id is null and owner.namespace_id = again.namespace_id and owner.id = again.chunk_id
  ), summed as (
    -- A document counts once, by its best tier; the reason is that of the heaviest step.
    select reached.namespace_id, reached.document_id, min(reached.tier) as tier,
           sum(reached.weight * shares[reached.tier] order by reached.tier, reached.weight, reached.path) as weight,
           (array_agg(reached.path order by reached.tier, reached.weight desc, reached.path))[1] as path,
           (array_agg(reached.chunk_id order by reached.tier, reached.weight desc, reached.chunk_id)
              filter (where reached.chunk_id is not null))[1] as chunk_id
      from reached
     group by 1, 2
  )
  select array_agg(best.namespace_id), array_agg(best.document_id), array_agg(best.tier), array_agg(best.weight),
         array_agg(best.path), array_agg(best.chunk_id)
    into owners, documents, tiers, sums, paths, chunks
    from (select summed.* from summed order by summed.tier, summed.weight desc, summed.document_id
           -- A filter may refuse most of them.
           limit case when filter is null or filter = '{}' then graph_arm.k + 10::bigint else 20::bigint * graph_arm.k end) as best;
  if documents is null then
    return;
  end if;
  if filter <> '{}' then
    -- Of a document of a million chunks only the beginning is asked: the arm must not read it all.
    execute format(
      'select array(select chunk.id from ragpg.chunk
                     where chunk.namespace_id = any ($1) and chunk.id = any ($2 || $3) and %1$s),
              array(select (select coalesce(array_agg(near.id order by near.ordinal), ''{}'')::text
                              from (select chunk.id, chunk.ordinal
                                      from (select * from ragpg.chunk
                                             where chunk.namespace_id = reached.namespace_id and chunk.document_id = reached.document_id
                                             order by chunk.ordinal limit 1000) as chunk
                                     where %1$s order by chunk.ordinal limit 100) as near)
                      from unnest($4, $5) with ordinality as reached (namespace_id, document_id, place) order by reached.place)',
      ragpg.filter_sql(filter)) into allowed, openings using namespace_ids, seeds, chunks, owners, documents;
  end if;
  -- A document of one chunk needs no choice, and the terms cost more than all else.
  if coalesce(query, '') ~ '\S' and exists (
       select from unnest(owners, documents, chunks) as reached (namespace_id, document_id, chunk_id)
        cross join lateral (select from ragpg.chunk
                             where chunk.namespace_id = reached.namespace_id and chunk.document_id = reached.document_id
                             order by chunk.ordinal offset 1 limit 1) as second
        where reached.chunk_id is null) then
    select ('{' || string_agg(slot.slot || ':' || slot.bound, ',') || '}/536870912')::sparsevec into weights
      from (select ragpg.lexeme_slot(term.word) as slot, sum(term.bound) as bound
              from ragpg.keyword_terms(graph_arm.query, graph_arm.namespace_ids) as term group by 1) as slot;
  end if;
  return query
  with seed as (
    select chunk.namespace_id, chunk.document_id, (array_agg(chunk.id order by given.place))[1] as id
      from unnest(graph_arm.seeds) with ordinality as given (id, place)
      join ragpg.chunk on chunk.namespace_id = any (graph_arm.namespace_ids) and chunk.id = given.id
     group by 1, 2
  ), candidate as (
    select reached.*, seed.id as seed_id
      from unnest(owners, documents, tiers, sums, paths, chunks, openings)
             as reached (namespace_id, document_id, tier, weight, path, chunk_id, opening)
      left join seed on seed.namespace_id = reached.namespace_id and seed.document_id = reached.document_id
     -- Steps by links and terms lead to what is new; among seeds they would favour the later one.
     where with_seeds and reached.tier = 1 or seed.document_id is null
  ), shown as (
    select candidate.namespace_id, coalesce(known.id, opening.id) as id, candidate.tier, candidate.weight, candidate.path
      from candidate
      -- Offset 0 leads it to the key: it has read all chunks of the document to find one.
      left join lateral (select wanted.id
                           from unnest(array[candidate.seed_id, candidate.chunk_id]) with ordinality as wish (id, place)
                          cross join lateral (select chunk.id, chunk.document_id from ragpg.chunk
                                               where chunk.namespace_id = candidate.namespace_id and chunk.id = wish.id
                                              offset 0) as wanted
                          where wanted.document_id = candidate.document_id and (allowed is null or wanted.id = any (allowed))
                          order by wish.place limit 1) as known on true
      left join lateral (select near.id
                           from ((select chunk.id, chunk.ordinal from ragpg.chunk
                                   where candidate.opening is null
                                     and chunk.namespace_id = candidate.namespace_id and chunk.document_id = candidate.document_id
                                   -- Of a book its beginning.
                                   order by chunk.ordinal limit 100)
                                 union all
                                select given.id, given.place from unnest(candidate.opening::bigint[]) with ordinality as given (id, place)) as near
                          where known.id is null
                          order by (select keyword.bm25 <#> weights from ragpg.chunk_keyword as keyword
                                     where weights is not null
                                       and keyword.namespace_id = candidate.namespace_id and keyword.chunk_id = near.id) nulls last,
                                   near.ordinal
                          limit 1) as opening on true
  ), ranked as (
    select shown.*, row_number() over (order by shown.tier, shown.weight desc, shown.id) as place from shown where shown.id is not null
  )
  select 'graph', ranked.namespace_id, ranked.id, (ranked.place + case ranked.tier when 1 then 0 else 200 * 10 ^ (ranked.tier - 2) end)::integer,
         ranked.weight::double precision, left(ranked.path, 300), 1::double precision
    from ranked
   order by ranked.place
   limit graph_arm.k;
end $$;

comment on function ragpg.graph_arm(bigint[], integer[], jsonb, integer, text, integer, boolean) is
$$Chunks that the graph connects with a question and with the chunks found so far: ids and weights;
ragpg.graph_search() has the text.

  select * from ragpg.graph_arm('{17,4}', ragpg.namespace_ids('{default}'), null, 10, 'Who made Orion?');

seeds       chunk ids, most important first; the first five count
query       entities named in it are starts too, and documents are shown by the chunk that fits it
hops        1, or 2 to go one step further from the twenty strongest
with_seeds  also documents of the seeds, where a name speaks for them

Column mode is the reason: what names, links to or shares what; of two steps both, with the document
between them in brackets. Ranks of names start at 1, of links
at 201, of shared entities and terms at 2001, of hubs at 20001; a second step is two tiers lower.$$;
