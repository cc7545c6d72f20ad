create or replace function ragpg.extend_jobs(
  worker text, job_ids bigint[], lease interval default '60 seconds', embedded integer default null)
returns setof bigint
language sql
set search_path from current
begin atomic
  update ragpg.job
     set lease_until = clock_timestamp() + extend_jobs.lease, embedded = coalesce(extend_jobs.embedded, job.embedded)
   where job.id = any (extend_jobs.job_ids) and job.worker = extend_jobs.worker and job.state = 'running'
  returning job.id;
end;

comment on function ragpg.extend_jobs(text, bigint[], interval, integer) is
$$The heartbeat of a worker: renews the lease of its jobs; returns those that are still its own.

  select ragpg.extend_jobs('me', '{17,18}', lease => '5 minutes');

embedded  texts that this attempt has embedded so far$$;
