-- A report may tell anything that its documents said: it goes with the first of them.
create or replace function ragpg.forget_reports()
returns trigger
language plpgsql
set search_path from current
as $$
begin
  -- Most databases have no reports, and no deletion should pay for them.
  if exists (select from ragpg.community_report) then
    delete from ragpg.community_report as report
     using (select distinct told.namespace_id, told.reporter, told.digest
              from ragpg.community_report as told
             cross join unnest(told.members) as member (id)
              join removed on removed.namespace_id = told.namespace_id and removed.id = member.id) as gone
     where (report.namespace_id, report.reporter, report.digest) = (gone.namespace_id, gone.reporter, gone.digest);
  end if;
  return null;
end $$;

comment on function ragpg.forget_reports() is
$$Trigger on ragpg.document: deletes the reports that read a deleted document.$$;

create or replace trigger forget_reports_delete after delete on ragpg.document
  referencing old table as removed for each statement execute function ragpg.forget_reports();
