create or replace function ragpg.fail_job(
  worker text, job_id bigint, error text, delay interval default null, counts boolean default true)
returns text
language plpgsql
set search_path from current
as $$
begin
  perform 1 from ragpg.job
    where job.id = fail_job.job_id and job.worker = fail_job.worker and job.state = 'running' for update;
  if not found then
    return 'lost';
  end if;
  return ragpg.requeue_job(job_id, counts, delay, error);
end $$;

comment on function ragpg.fail_job(text, bigint, text, interval, boolean) is
$$Ends an attempt at a job that failed: waiting (it is tried again), quarantined (it was the last
attempt), superseded (a newer job of its source waits) or lost (it was not this worker's any more).

  select ragpg.fail_job('me', 17, 'no text layer');

delay   until the next attempt; null: 5 seconds, and twice as long after each, up to 10 minutes
counts  false where the job is not to blame: a service that is down$$;
