create or replace function ragpg.release_jobs(
  worker text, job_ids bigint[], delay interval default '0', error text default null)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  count bigint := 0;
  given bigint;
begin
  for given in
    select job.id from ragpg.job
     where job.id = any (job_ids) and job.worker = release_jobs.worker and job.state = 'running'
     order by job.id for update
  loop
    perform ragpg.requeue_job(given, counts => false, delay => release_jobs.delay, error => release_jobs.error);
    count := count + 1;
  end loop;
  if count > 0 and delay <= interval '0' then
    perform pg_catalog.pg_notify('ragpg_jobs', '');
  end if;
  return count;
end $$;

comment on function ragpg.release_jobs(text, bigint[], interval, text) is
$$Gives jobs of a worker back that it did not come to, as if it had never had them; how many.

  select ragpg.release_jobs('me', '{17,18}');

delay  nobody takes them before; for a service that asked to wait
error  the reason, for who looks at ragpg.jobs$$;
