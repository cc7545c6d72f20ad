-- Nothing named, nothing deleted.
create or replace function ragpg.delete_jobs(
  job_ids bigint[] default null, namespace text default null, state text default null)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  count bigint;
begin
  if delete_jobs.state not in ('waiting', 'running', 'done', 'quarantined') then
    raise exception 'jobs have no state "%"', delete_jobs.state using errcode = 'RG005',
      hint = 'States are waiting, running, done and quarantined.';
  end if;
  with gone as (
    delete from ragpg.job
     where (job_ids is not null or delete_jobs.state is not null)
       and (job_ids is null or job.id = any (job_ids))
       and (delete_jobs.state is null or job.state = delete_jobs.state)
       and (delete_jobs.namespace is null
            or job.namespace_id = any (ragpg.namespace_ids(array[delete_jobs.namespace])))
       and job.namespace_id in (select ragpg.usable_namespaces())
    returning 1)
  select count(*) into count from gone;
  return count;
end $$;

comment on function ragpg.delete_jobs(bigint[], text, text) is
$$Deletes jobs, named by id or by state; how many. What is stored of their documents stays. A worker
that has one of them notices, and stores nothing more of it.

  select ragpg.delete_jobs('{17,18}');
  select ragpg.delete_jobs(namespace => 'handbook', state => 'quarantined');

state  waiting, running, done or quarantined$$;
