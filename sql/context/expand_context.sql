-- For psql: the result of a search, read more widely.
create or replace function ragpg.expand_context(hits ragpg.hit[], radius integer default 1)
returns setof ragpg.hit
language sql stable parallel safe
begin atomic
  with found as (
    select hit.*
      from unnest(hits) with ordinality as hit (
        rank, score, namespace, source, title, document_id, chunk_id, chunk_index, content, breadcrumb, metadata,
        start_line, end_line, start_char, end_char, page, version, arms, place)
  ), runs as (
    select run.*
      from (select array_agg(found.namespace order by found.place) as namespaces,
                   array_agg(found.chunk_id order by found.place) as chunk_ids,
                   array_agg(found.version order by found.place) as versions
              from found) as asked
     cross join lateral ragpg.stitch_chunks(asked.namespaces, asked.chunk_ids, asked.versions, radius) as run
  )
  select (row_number() over (order by found.place))::integer, found.score, found.namespace, found.source, found.title,
         found.document_id, found.chunk_id, found.chunk_index,
         coalesce(runs.content, found.content), found.breadcrumb, found.metadata,
         coalesce(runs.start_line, found.start_line), coalesce(runs.end_line, found.end_line),
         coalesce(runs.start_char, found.start_char), coalesce(runs.end_char, found.end_char),
         coalesce(runs.page, found.page), found.version, found.arms
    from found
    left join runs on found.place = any (runs.places)
   -- A run that holds several hits stands at the place of the best of them.
   where runs.places is null or found.place = runs.places[1]
   order by found.place;
end;

comment on function ragpg.expand_context(ragpg.hit[], integer) is
$$Hits of a search with the text around them: neighbouring chunks joined, hits of one run merged.

  select rank, source, start_line, end_line, content
    from ragpg.expand_context(array(select hit from ragpg.search('refund', k => 5) as hit), radius => 1);

radius  so many chunks on either side; 0 only joins hits that adjoin

No text comes twice. content is the document from start_char to end_char; chunk_id is the best of
the merged hits. A hit whose document has changed since the search stays as it was found.$$;
