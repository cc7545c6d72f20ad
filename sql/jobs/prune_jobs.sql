create or replace function ragpg.prune_jobs(older interval default '1 day', k integer default 10000)
returns bigint
language sql
set search_path from current
begin atomic
  with gone as (
    delete from ragpg.job
     where job.id in (select old.id from ragpg.job as old
                       where old.state = 'done' and old.finished_at < now() - prune_jobs.older
                       order by old.finished_at limit prune_jobs.k for update skip locked)
    returning 1)
  select count(*) from gone;
end;

comment on function ragpg.prune_jobs(interval, integer) is
$$Deletes the rows of jobs that were done long ago, which workers do by themselves; how many.

  select ragpg.prune_jobs('7 days');

k  at most so many at a time$$;
