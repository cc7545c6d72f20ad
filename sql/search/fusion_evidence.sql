-- What the fusion by scores looks at. What one arm left out of its list is looked up, so "not among
-- the best 50" is never taken for "nothing in common".
create or replace function ragpg.fusion_evidence(
  hits ragpg.arm_hit[], query text, embedding vector, namespace_ids integer[],
  out signals jsonb, out shares ragpg.arm_hit[])
language plpgsql stable
set search_path from current
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  sample constant bigint[] := ragpg.sample_chunks(namespace_ids);
  -- What only the other arm, or a third one, has found.
  no_score bigint[];
  no_cosine bigint[];
  terms integer;
  lead double precision;
  total double precision;
  words sparsevec;
  chunks bigint;
  near_ids bigint[];
  cosines double precision[];
  usual double precision;
begin
  select count(*), max(slot.bound) / sum(slot.bound), sum(slot.bound),
         ('{' || string_agg(slot.slot || ':' || slot.bound, ',') || '}/536870912')::sparsevec
    into terms, lead, total, words
    from (select ragpg.lexeme_slot(term.word) as slot, sum(term.bound) as bound
            from ragpg.keyword_terms(query, namespace_ids) as term group by 1) as slot;
  select greatest(sum(namespace_statistics.chunks), 1) into chunks
    from ragpg.namespace_statistics where namespace_statistics.namespace_id = any (namespace_ids);
  select array_agg(one.chunk_id) filter (where not one.keyword), array_agg(one.chunk_id) filter (where not one.vector)
    into no_score, no_cosine
    from (select hit.chunk_id, bool_or(hit.arm = 'keyword') as keyword, bool_or(hit.arm = 'vector') as vector
            from unnest(hits) as hit group by hit.chunk_id) as one;
  select array_agg(one.chunk_id), array_agg(one.cosine), avg(one.cosine) filter (where one.chunk_id = any (sample))
    into near_ids, cosines, usual
    from ragpg.cosines(embedding, namespace_ids, sample || no_cosine) as one;
  -- In a namespace of a few chunks the sample may be the answer itself.
  usual := least(coalesce(usual, 0), 0.9);
  signals := ragpg.fusion_signals(hits, terms, lead, chunks, usual);
  shares := array(
    select row(hit.arm, hit.namespace_id, hit.chunk_id, null,
               case hit.arm when 'keyword' then hit.score / total else (hit.score - usual) / (1 - usual) end,
               null, 1)::ragpg.arm_hit
      from unnest(hits) as hit where hit.arm in ('keyword', 'vector')
     union all
    select row('keyword', keyword.namespace_id, keyword.chunk_id, null, -(keyword.bm25 <#> words) / total, null, 1)::ragpg.arm_hit
      from ragpg.chunk_keyword as keyword
     where keyword.namespace_id = any (namespace_ids) and keyword.chunk_id = any (no_score)
     union all
    select row('vector', hit.namespace_id, hit.chunk_id, null, (one.cosine - usual) / (1 - usual), null, 1)::ragpg.arm_hit
      from (select distinct hit.namespace_id, hit.chunk_id from unnest(hits) as hit where hit.chunk_id = any (no_cosine)) as hit
      join unnest(near_ids, cosines) as one (chunk_id, cosine) on one.chunk_id = hit.chunk_id);
end $$;

comment on function ragpg.fusion_evidence(ragpg.arm_hit[], text, vector, integer[]) is
$$Signals of a query (ragpg.fusion_signals), and the keyword and vector score of every chunk found,
whichever arm found it, as shares: 0 is nothing in common, 1 the most there can be.

  select signals from ragpg.fusion_evidence('{}', 'refund', '[0.1,0.2]', ragpg.namespace_ids('{default}'));

keyword  BM25 as a share of the query's idf weight
vector   where the cosine lies between that of chunks at large and 1$$;
