-- The first statement of a worker's transaction. The lock keeps the jobs from being taken away
-- until it commits, and does not keep heartbeats out.
create or replace function ragpg.hold_jobs(worker text, job_ids bigint[])
returns void
language plpgsql
set search_path from current
as $$
declare
  held integer;
begin
  with locked as (
    select 1 from ragpg.job
     where job.id = any (job_ids) and job.worker = hold_jobs.worker and job.state = 'running'
     order by job.id for key share)
  select count(*) into held from locked;
  if held < cardinality(job_ids) then
    raise exception 'jobs of worker % were taken away: their lease ran out, or they were deleted', worker
      using errcode = 'RG007', hint = 'Nothing was written. Whoever has them now does the work.';
  end if;
end $$;

comment on function ragpg.hold_jobs(text, bigint[]) is
$$Raises RG007 unless the worker still has all of these jobs, and keeps them its own until the
transaction ends: a worker that was asleep past its lease writes nothing.

  select ragpg.hold_jobs('me', '{}');$$;
