-- Who calls it holds the lock of the row.
create or replace function ragpg.requeue_job(job_id bigint, counts boolean, delay interval, error text)
returns text
language plpgsql
set search_path from current
as $$
declare
  now_state text;
begin
  update ragpg.job
     set state = case when counts and attempts >= max_attempts then 'quarantined' else 'waiting' end,
         attempts = attempts - case when counts then 0 else 1 end,
         run_at = now() + coalesce(requeue_job.delay,
           -- Twice as long each time, with chance on top, so that many do not come back in step.
           least(interval '5 seconds' * 2 ^ least(attempts - 1, 10), interval '10 minutes') * (1 + random() / 4)),
         finished_at = case when counts and attempts >= max_attempts then now() end,
         lease_until = null, worker = null,
         error = coalesce(left(requeue_job.error, 2000), job.error)
   where job.id = requeue_job.job_id
  returning job.state into now_state;
  return now_state;
exception when unique_violation then
  -- A newer job of this source waits already, and says more.
  delete from ragpg.job where job.id = requeue_job.job_id;
  return 'superseded';
end $$;

comment on function ragpg.requeue_job(bigint, boolean, interval, text) is
$$Ends an attempt at a job: its new state, waiting or quarantined, or superseded where a newer job of
its source waits. For ragpg.fail_job(), ragpg.release_jobs() and leases that ran out.

  select ragpg.requeue_job(17, counts => true, delay => null, error => 'no text layer');

counts  whether the attempt counts towards max_attempts
delay   null: 5 seconds, and twice as long after each attempt, up to 10 minutes$$;
