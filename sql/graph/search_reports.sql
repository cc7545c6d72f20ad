-- Reports are few (hundreds for a hundred thousand documents), so every community is scored: idf of
-- the terms that it has, cosine, and the two ranks as reciprocals (Cormack et al. 2009, k = 60). A
-- question on the whole corpus may share no word with any report; then the largest come first.
create or replace function ragpg.search_reports(
  query text, embedding vector default null, namespaces text[] default '{default}',
  k integer default 12, smallest integer default 2)
returns table (rank integer, score double precision, kind text, namespace text, community_id bigint,
  name text, size integer, title text, summary text, findings jsonb, stale boolean, source text,
  chunk_id bigint, sources text[], keyword_rank integer, vector_rank integer)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
  owners integer[] := ragpg.namespace_ids(search_reports.namespaces);
begin
  return query
  with candidate as materialized (
    select community.namespace_id, namespace.name as namespace, community.id, community.name, community.size,
           report.reporter, report.digest, report.title, report.summary, report.findings,
           hub.source, first.id as chunk_id, first.content,
           coalesce(report.lexemes, keyword.lexemes, ''::tsvector) as lexemes,
           case when report.space_id = namespace.space_id
                 and vector_dims(report.embedding) = vector_dims(search_reports.embedding)
                then 1 - (report.embedding <=> search_reports.embedding) end as cosine
      from ragpg.namespace
      join ragpg.community on community.namespace_id = namespace.id and community.size >= smallest
      left join lateral (
        select told.* from ragpg.community_report as told
         where told.namespace_id = community.namespace_id and told.community_id = community.id
         order by told.created_at desc, told.reporter limit 1) as report on true
      left join ragpg.document as hub on hub.namespace_id = community.namespace_id and hub.id = community.hub_id
      left join lateral (
        select chunk.id, chunk.content from ragpg.chunk
         where chunk.namespace_id = hub.namespace_id and chunk.document_id = hub.id
         order by chunk.ordinal limit 1) as first on true
      left join ragpg.chunk_keyword as keyword
        on report.digest is null and keyword.namespace_id = community.namespace_id and keyword.chunk_id = first.id
     where namespace.id = any (owners) and (report.digest is not null or first.id is not null)
  ), near as materialized (
    select owner.id as namespace_id, cosines.chunk_id, cosines.cosine
      from (select namespace.id, array_agg(candidate.chunk_id) as chunks
              from candidate
              join ragpg.namespace on namespace.id = candidate.namespace_id
              join ragpg.embedding_space as space
                on space.id = namespace.space_id and space.dimensions = vector_dims(search_reports.embedding)
             where candidate.digest is null
             group by namespace.id) as owner,
           ragpg.cosines(search_reports.embedding, array[owner.id], owner.chunks) as cosines
  ), term as materialized (
    select asked.lexeme, ragpg.quote_lexeme(asked.lexeme)::tsquery as wanted
      from (select distinct word.lexeme
              from (select distinct namespace.text_search_config as config
                      from ragpg.namespace where namespace.id = any (owners)) as language,
                   unnest(ragpg.lexemes(language.config::regconfig, left(search_reports.query, 10000))) as word
             where octet_length(word.lexeme) <= 200) as asked
     order by asked.lexeme limit 64
  ), held as materialized (
    select candidate.namespace_id, candidate.id, term.lexeme
      from candidate join term on candidate.lexemes @@ term.wanted
  ), worth as (
    select counted.lexeme,
           ln(1 + ((select count(*) from candidate) - counted.times + 0.5) / (counted.times + 0.5)) as idf
      from (select held.lexeme, count(*) as times from held group by 1) as counted
  ), scored as (
    select candidate.*, coalesce(candidate.cosine, near.cosine) as similarity, words.score as words
      from candidate
      left join near on candidate.digest is null
                    and near.namespace_id = candidate.namespace_id and near.chunk_id = candidate.chunk_id
      left join (select held.namespace_id, held.id, sum(worth.idf) as score
                   from held join worth using (lexeme) group by 1, 2) as words
        on words.namespace_id = candidate.namespace_id and words.id = candidate.id
  ), ranked as (
    select scored.*,
           case when scored.words is not null then rank() over (order by scored.words desc nulls last)::integer end as by_words,
           case when scored.similarity is not null
                then rank() over (order by scored.similarity desc nulls last)::integer end as by_vector
      from scored
  ), fused as (
    select ranked.*, coalesce(1.0::double precision / (60 + ranked.by_words), 0)
                     + coalesce(1.0::double precision / (60 + ranked.by_vector), 0) as fused
      from ranked
  ), best as (
    select fused.*, row_number() over (order by fused.fused desc, fused.size desc, fused.namespace_id, fused.id)::integer as place
      from fused
     order by place limit k
  )
  select best.place, best.fused, case when best.digest is null then 'hub' else 'report' end, best.namespace, best.id,
         best.name, best.size, coalesce(best.title, best.name), coalesce(best.summary, best.content),
         coalesce(best.findings, '[]'::jsonb),
         best.digest is not null and best.digest <> ragpg.community_digest(best.namespace_id, best.id),
         best.source, best.chunk_id,
         array(select document.source
                 from ragpg.document_rank as member
                 join ragpg.document on document.namespace_id = member.namespace_id and document.id = member.document_id
                where member.namespace_id = best.namespace_id and member.community_id = best.id
                order by member.pagerank desc, document.source limit 5),
         best.by_words, best.by_vector
    from best
   order by best.place;
end $$;

comment on function ragpg.search_reports(text, vector, text[], integer, integer) is
$$The communities that tell most about a question on the whole corpus, each with its report; where it has
none, with the first chunk of its hub.

  select rank, kind, title, summary from ragpg.search_reports('Which topics are there?', k => 5);

embedding  of the query, in the namespace's space; null: words and size alone
smallest   communities of fewer documents are left out
kind       report, or hub where the community has no report
stale      a document of the community has changed since the report was written
sources    up to five documents of the community, by PageRank$$;
