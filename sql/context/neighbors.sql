-- A chunk and what stands around it, by position: no search, no model.
create or replace function ragpg.neighbors(namespace text, chunk_id bigint, radius integer default 1)
returns table (
  distance integer, id bigint, ordinal integer, content text, breadcrumb text,
  start_line integer, end_line integer, start_char integer, end_char integer, page integer)
language sql stable parallel safe
begin atomic
  select near.ordinal - hit.ordinal, near.id, near.ordinal, near.content, near.breadcrumb,
         near.start_line, near.end_line, near.start_char, near.end_char, near.page
    from unnest(ragpg.namespace_ids(array[namespace])) as owner (id)
    join ragpg.chunk as hit on hit.namespace_id = owner.id and hit.id = neighbors.chunk_id
    join ragpg.chunk as near on near.namespace_id = hit.namespace_id and near.document_id = hit.document_id
     and near.ordinal between hit.ordinal - radius::bigint and hit.ordinal + radius::bigint
   order by near.ordinal;
end;

comment on function ragpg.neighbors(text, bigint, integer) is
$$A chunk and the chunks around it in its document, in reading order.

  select distance, content from ragpg.neighbors('default', 42, radius => 2);

distance is 0 for the chunk itself, negative before it. Neighbours may repeat characters (the
overlap of the chunker); ragpg.expand_context() joins them without. No rows for an unknown chunk.$$;
