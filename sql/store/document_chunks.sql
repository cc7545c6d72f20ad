-- Documents as they are stored, without a search. The condition is SQL text of ragpg.filter_sql,
-- which quotes every value.
create or replace function ragpg.document_chunks(
  namespace text default 'default', sources text[] default null, filter jsonb default null, k integer default null)
returns setof ragpg.hit
language plpgsql stable
set search_path from current
as $$
begin
  if k < 0 then
    raise exception 'k cannot be negative: %', k using errcode = 'RG005';
  end if;
  return query execute format(
    'select row_number() over (order by document.source, chunk.ordinal)::integer, 0::double precision, $3,
            document.source, document.title, document.id, chunk.id, chunk.ordinal, chunk.content,
            chunk.breadcrumb, chunk.metadata, chunk.start_line, chunk.end_line, chunk.start_char,
            chunk.end_char, chunk.page, document.version, ''{}''::jsonb
       from ragpg.document
       join ragpg.chunk on chunk.namespace_id = document.namespace_id and chunk.document_id = document.id
      where document.namespace_id = $1 %s and %s
      order by document.source, chunk.ordinal
      limit $4',
    case when sources is not null then 'and document.source = any ($2)' else '' end,
    ragpg.filter_sql(filter))
    using (ragpg.namespace_ids(array[namespace]))[1], sources, namespace, k;
end $$;

comment on function ragpg.document_chunks(text, text[], jsonb, integer) is
$$The chunks of documents, by source and in reading order: what is stored, without a search.

  select source, start_line, content from ragpg.document_chunks('handbook', '{refund.md}');

sources  which documents; null is all of them, an empty list none; unknown ones have no rows
filter   only chunks whose metadata pass, see ragpg.filter_sql
k        at most so many rows; null is no limit

Columns are those of ragpg.search; score is 0 and arms are empty, for nothing was ranked.$$;
