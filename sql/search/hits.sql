-- Ids to rows: the text and the place in its source.
create or replace function ragpg.hits(ranking ragpg.arm_hit[], arms jsonb[] default null)
returns setof ragpg.hit
language sql stable parallel safe
begin atomic
  select ranked.rank, ranked.score, namespace.name, document.source, document.title, document.id, chunk.id,
         chunk.ordinal, chunk.content, chunk.breadcrumb, chunk.metadata, chunk.start_line, chunk.end_line,
         chunk.start_char, chunk.end_char, chunk.page, document.version,
         coalesce(arms[ranked.rank], jsonb_build_object(ranked.arm, jsonb_strip_nulls(
           jsonb_build_object('rank', ranked.rank, 'score', ranked.score, 'mode', ranked.mode))))
    from unnest(ranking) as ranked
    join ragpg.chunk on chunk.namespace_id = ranked.namespace_id and chunk.id = ranked.chunk_id
    join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
    join ragpg.namespace on namespace.id = chunk.namespace_id
   order by ranked.rank;
end;

comment on function ragpg.hits(ragpg.arm_hit[], jsonb[]) is
$$The chunks of a ranking, with text and source.

  select source, content from ragpg.hits(array(
    select hit from ragpg.keyword_arm('refund', ragpg.namespace_ids('{default}'), null, 5) as hit));$$;
