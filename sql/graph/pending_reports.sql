create or replace function ragpg.pending_reports(
  namespace text, reporter text, smallest integer default 2, k integer default null)
returns table (community_id bigint, digest bytea, name text, size integer)
language sql stable
begin atomic
  select present.id, present.digest, present.name, present.size
    from (select community.namespace_id, community.id, community.name, community.size,
                 ragpg.community_digest(community.namespace_id, community.id) as digest
            from unnest(ragpg.namespace_ids(array[pending_reports.namespace])) as owner (id)
            join ragpg.community on community.namespace_id = owner.id
           where community.size >= smallest
          offset 0) as present
   where not exists (
           select from ragpg.community_report as report
            where report.namespace_id = present.namespace_id
              and report.reporter = pending_reports.reporter and report.digest = present.digest)
   order by present.size desc, present.id
   limit k;
end;

comment on function ragpg.pending_reports(text, text, integer, integer) is
$$Communities whose present content a reporter has not reported on, the largest first.

  select * from ragpg.pending_reports('default', 'some-model', k => 10);$$;
