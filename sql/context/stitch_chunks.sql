-- Gaps and islands: the wanted positions of a document fall into runs without a hole, and each run
-- becomes one text. Overlap goes by offsets, not by comparing text. Between two chunks lies white
-- space that the chunker left out; its length and its line ends are known from offsets and lines,
-- so lengths stay exact: length(content) = end_char - start_char.
create or replace function ragpg.stitch_chunks(
  namespaces text[], chunk_ids bigint[], versions integer[] default null, radius integer default 1)
returns table (
  places integer[], namespace text, document_id bigint, ids bigint[], content text,
  start_line integer, end_line integer, start_char integer, end_char integer, page integer, version integer)
language sql stable parallel safe
begin atomic
  with given as (
    select asked.place::integer, owner.id as namespace_id, owner.name, chunk.document_id, chunk.id,
           chunk.ordinal, document.version
      from unnest(namespaces, chunk_ids, versions) with ordinality as asked (namespace, chunk_id, version, place)
      join ragpg.namespace as owner on owner.name = asked.namespace
       -- Policies are not asked of the owner, who may have narrowed the transaction.
       and (coalesce(current_setting('ragpg.allowed_namespaces', true), '') = ''
            or owner.name = any (nullif(current_setting('ragpg.allowed_namespaces', true), '')::text[]))
      join ragpg.chunk on chunk.namespace_id = owner.id and chunk.id = asked.chunk_id
      join ragpg.document on document.namespace_id = chunk.namespace_id and document.id = chunk.document_id
     where (asked.version is null or asked.version = document.version)
       and chunk.start_char is not null and chunk.end_char is not null
  ), wanted as (
    select distinct given.namespace_id, given.document_id, near.ordinal
      from given
      join ragpg.chunk as near on near.namespace_id = given.namespace_id and near.document_id = given.document_id
       and near.ordinal between given.ordinal - greatest(radius, 0)::bigint and given.ordinal + greatest(radius, 0)::bigint
  ), reading as (
    select chunk.namespace_id, chunk.document_id, chunk.ordinal, chunk.id, chunk.content, chunk.page,
           chunk.start_char, chunk.end_char, chunk.start_line, chunk.end_line,
           -- A hole, or chunks out of order (a chunker of the user's own): nothing to join.
           coalesce(chunk.ordinal = lag(chunk.ordinal) over document + 1
             and chunk.start_char between lag(chunk.start_char) over document and lag(chunk.end_char) over document + 64,
             false) as goes_on
      from wanted
      join ragpg.chunk on chunk.namespace_id = wanted.namespace_id
       and chunk.document_id = wanted.document_id and chunk.ordinal = wanted.ordinal
     where chunk.start_char is not null and chunk.end_char is not null
    window document as (partition by chunk.namespace_id, chunk.document_id order by chunk.ordinal)
  ), runs as (
    select reading.*,
           sum((not reading.goes_on)::integer) over (
             partition by reading.namespace_id, reading.document_id order by reading.ordinal) as run
      from reading
  ), reached as (
    select runs.*, max(runs.end_char) over before as char, max(runs.end_line) over before as line
      from runs
    window before as (
      partition by runs.namespace_id, runs.document_id, runs.run order by runs.ordinal
      rows between unbounded preceding and 1 preceding)
  ), pieces as (
    select reached.*,
           case
             when reached.char is null then reached.content
             when reached.start_char < reached.char
               then substr(reached.content, reached.char - reached.start_char + 1)
             else repeat(' ', reached.start_char - reached.char - ends.count) || repeat(E'\n', ends.count)
               || reached.content
           end as piece
      from reached
     cross join lateral (
       select greatest(0, least(reached.start_char - reached.char, reached.start_line - reached.line))) as ends (count)
  ), texts as (
    select pieces.namespace_id, pieces.document_id, pieces.run,
           array_agg(pieces.id order by pieces.ordinal) as ids,
           string_agg(pieces.piece, '' order by pieces.ordinal) as content,
           min(pieces.start_line) as start_line, max(pieces.end_line) as end_line,
           min(pieces.start_char) as start_char, max(pieces.end_char) as end_char, min(pieces.page) as page
      from pieces
     group by pieces.namespace_id, pieces.document_id, pieces.run
  )
  select array_agg(given.place order by given.place), given.name, texts.document_id, texts.ids, texts.content,
         texts.start_line, texts.end_line, texts.start_char, texts.end_char, texts.page, given.version
    from given
    join runs on runs.namespace_id = given.namespace_id and runs.id = given.id
    join texts on texts.namespace_id = runs.namespace_id and texts.document_id = runs.document_id
     and texts.run = runs.run
   group by given.name, given.version, texts.namespace_id, texts.document_id, texts.run, texts.ids, texts.content,
         texts.start_line, texts.end_line, texts.start_char, texts.end_char, texts.page
   order by min(given.place);
end;

comment on function ragpg.stitch_chunks(text[], bigint[], integer[], integer) is
$$Chunks with their neighbours, joined to runs of text: overlap once, reading order kept.

  select places, content from ragpg.stitch_chunks('{default,default}', '{42,57}', radius => 1);

namespaces, chunk_ids  the chunks, side by side
versions               of their documents when they were found, or null: where a document has
                       changed since, the chunk is left out
radius                 so many neighbours on either side; 0 only joins chunks that adjoin

places are the positions of the given chunks that a run holds, best first. Chunks that are gone,
and those without offsets, are in no run. Up to 64 characters between two chunks count as white
space; where more lie between them the run ends.$$;
