-- The documents are held while their digest is compared: a report never outlives what it was read
-- from, because whoever deletes one of them comes after us and takes the report with it.
create or replace function ragpg.store_report(
  namespace text, reporter text, community_id bigint, digest bytea, report jsonb)
returns boolean
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[store_report.namespace]))[1];
  members bigint[];
begin
  perform ragpg.refuse_nulls(jsonb_build_object('reporter', store_report.reporter, 'community_id', store_report.community_id, 'digest', store_report.digest, 'report', store_report.report));
  members := array(
    select document.id
      from ragpg.document_rank as rank
      join ragpg.document on document.namespace_id = owner and document.id = rank.document_id
     where rank.namespace_id = owner and rank.community_id = store_report.community_id
     order by document.id
       for share of document);
  if ragpg.community_digest(owner, store_report.community_id) <> store_report.digest then
    return false;
  end if;
  update ragpg.community_report as old set community_id = null
   where old.namespace_id = owner and old.community_id = store_report.community_id;
  insert into ragpg.community_report as kept
         (namespace_id, reporter, digest, community_id, members, title, summary, findings, lexemes)
  select owner, store_report.reporter, store_report.digest, store_report.community_id, members,
         report ->> 'title', report ->> 'summary', coalesce(report -> 'findings', '[]'),
         ragpg.lexemes(namespace.text_search_config::regconfig,
           concat_ws(E'\n', report ->> 'title', report ->> 'summary',
             (select string_agg(finding.value, E'\n') from jsonb_array_elements_text(coalesce(report -> 'findings', '[]')) as finding)))
    from ragpg.namespace where namespace.id = owner
  on conflict (namespace_id, reporter, digest) do update
     set community_id = excluded.community_id, members = excluded.members, title = excluded.title,
         summary = excluded.summary, findings = excluded.findings, lexemes = excluded.lexemes,
         space_id = null, embedding = null, created_at = now();
  return true;
end $$;

comment on function ragpg.store_report(text, text, bigint, bytea, jsonb) is
$$Keeps a report on a community; false where its documents have changed since they were read.

  select ragpg.store_report('default', 'some-model', community.id, ragpg.community_digest(namespace_id, community.id),
    '{"title": "Refunds", "summary": "How money is paid back.", "findings": ["Within 14 days."]}')
    from ragpg.community where namespace_id = 1 limit 1;

Its vector follows: ragpg.store_report_vectors.$$;
