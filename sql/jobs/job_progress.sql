create or replace view ragpg.job_progress as
select namespace.name as namespace,
       job.batch,
       count(*) as jobs,
       count(*) filter (where job.state = 'waiting') as waiting,
       count(*) filter (where job.state = 'running') as running,
       count(*) filter (where job.state = 'done') as done,
       count(*) filter (where job.state = 'quarantined') as quarantined,
       round(100.0 * count(*) filter (where job.state in ('done', 'quarantined')) / count(*), 1) as percent,
       coalesce(sum(job.chunks), 0) as chunks,
       sum(job.embedded) as embedded,
       count(*) filter (where job.finished_at > now() - interval '1 minute') as last_minute,
       min(job.created_at) as created_at,
       max(job.finished_at) as finished_at
  from ragpg.job
  join ragpg.namespace on namespace.id = job.namespace_id
 where ragpg.may_use_namespace(namespace.id)
 group by namespace.name, job.batch;

comment on view ragpg.job_progress is
$$How far the jobs of each namespace and batch are. Jobs that are done count for a day.

  select namespace, batch, done, waiting, percent from ragpg.job_progress order by created_at desc;

last_minute  jobs that ended in the last minute
embedded     texts sent to the model; the others were cached$$;
