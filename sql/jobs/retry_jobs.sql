create or replace function ragpg.retry_jobs(namespace text default null, job_ids bigint[] default null)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  count bigint;
begin
  with again as (
    update ragpg.job
       set state = 'waiting', attempts = 0, run_at = now(), finished_at = null
     where job.state = 'quarantined'
       and (job_ids is null or job.id = any (job_ids))
       and (retry_jobs.namespace is null
            or job.namespace_id = any (ragpg.namespace_ids(array[retry_jobs.namespace])))
       and job.namespace_id in (select ragpg.usable_namespaces())
       and not exists (select 1 from ragpg.job as newer
                        where newer.namespace_id = job.namespace_id and newer.source = job.source and newer.state = 'waiting')
    returning 1)
  select count(*) into count from again;
  perform pg_catalog.pg_notify('ragpg_jobs', '');
  return count;
end $$;

comment on function ragpg.retry_jobs(text, bigint[]) is
$$Takes jobs out of quarantine: they have all their attempts again; how many.

  select ragpg.retry_jobs('handbook');
  select ragpg.retry_jobs(job_ids => '{17}');

Without arguments all of them that the caller may use.$$;
