create or replace function ragpg.finish_jobs(
  worker text, job_ids bigint[], results text[], chunks integer[] default null, embedded integer[] default null)
returns bigint
language sql
set search_path from current
begin atomic
  with done as (
    update ragpg.job
       set state = 'done', result = given.result, chunks = given.chunks, embedded = coalesce(given.embedded, job.embedded),
           finished_at = clock_timestamp(), lease_until = null, error = null, content = null
      from unnest(finish_jobs.job_ids, finish_jobs.results, finish_jobs.chunks, finish_jobs.embedded)
           as given (id, result, chunks, embedded)
     where job.id = given.id and job.worker = finish_jobs.worker and job.state = 'running'
    returning 1)
  select count(*) from done;
end;

comment on function ragpg.finish_jobs(text, bigint[], text[], integer[], integer[]) is
$$Ends jobs of a worker that are done; how many were still its own.

  select ragpg.finish_jobs('me', '{17}', '{stored}', chunks => '{3}', embedded => '{3}');

results  what became of each: stored, unchanged, empty, skipped or removed$$;
