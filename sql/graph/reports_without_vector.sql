create or replace function ragpg.reports_without_vector(namespace text, reporter text, k integer default 64)
returns table (digest bytea, title text, summary text, findings jsonb)
language sql stable
begin atomic
  select report.digest, report.title, report.summary, report.findings
    from unnest(ragpg.namespace_ids(array[reports_without_vector.namespace])) as owner (id)
    join ragpg.namespace on namespace.id = owner.id
    join ragpg.community_report as report
      on report.namespace_id = owner.id and report.reporter = reports_without_vector.reporter
   where namespace.space_id is not null
     and (report.embedding is null or report.space_id is distinct from namespace.space_id)
   order by report.digest
   limit k;
end;

comment on function ragpg.reports_without_vector(text, text, integer) is
$$Reports that have no vector in the embedding space that the namespace uses now.

  select title from ragpg.reports_without_vector('default', 'some-model');$$;
