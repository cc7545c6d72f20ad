-- A community without a report of just its members is shown by the opening of its hub, so that every
-- community can be found, with or without a model.
create or replace function ragpg.community_reports(query text, namespace text, k integer default 8)
returns table (community_id bigint, title text, summary text, findings jsonb, size integer, score real, kind text)
language sql stable
begin atomic
  with wanted as (
    select namespace.id, namespace.text_search_config::regconfig as config,
           (select string_agg(quote_literal(word.lexeme), ' | ')::tsquery
              from unnest(to_tsvector(namespace.text_search_config::regconfig, left(query, 10000))) as word) as words
      from ragpg.namespace where namespace.name = community_reports.namespace
  ), shown as (
    select wanted.config, wanted.words, listed.community_id, listed.size,
           coalesce(report.title, nullif(listed.name, ''), hub.title) as title,
           coalesce(report.summary, hub.content) as summary,
           coalesce(report.findings, '[]') as findings,
           case when report.title is not null then 'report' else 'hub' end as kind
      from wanted
     cross join lateral ragpg.community_digests(namespace, 1) as listed
      join ragpg.community on community.namespace_id = wanted.id and community.id = listed.community_id
      left join ragpg.community_report as report
        on report.namespace_id = wanted.id and report.digest = listed.digest
      left join lateral (
           select coalesce(nullif(document.title, ''), document.source) as title, chunk.content
             from ragpg.document
             join ragpg.chunk on chunk.namespace_id = document.namespace_id and chunk.document_id = document.id
             left join ragpg.document_rank on document_rank.namespace_id = document.namespace_id
                                          and document_rank.document_id = document.id
            where document.namespace_id = wanted.id
              and (document.id = community.hub_id
                   or community.hub_id is null and document_rank.community_id = listed.community_id)
            order by document_rank.pagerank desc nulls last, document.id, chunk.ordinal limit 1) as hub on true
  )
  select shown.community_id, shown.title, shown.summary, shown.findings, shown.size,
         coalesce(ts_rank(setweight(to_tsvector(shown.config, coalesce(shown.title, '')), 'A')
                          || to_tsvector(shown.config, coalesce(shown.summary, '') || ' ' || shown.findings::text),
                          shown.words, 1), 0) as score, shown.kind
    from shown
   where shown.summary is not null
   order by 6 desc, shown.size desc, shown.community_id
   limit k;
end;

comment on function ragpg.community_reports(text, text, integer) is
$$What the communities of a namespace are about, those first that have to do with a question: the report of a
model, or the opening of the hub document.

  select title, summary, kind from ragpg.community_reports('How do refunds work?', 'default');

Reports are written by ragpg.graph.reports, on request.$$;
