create or replace view ragpg.jobs as
select job.id,
       namespace.name as namespace,
       job.source,
       job.kind,
       case when job.state = 'waiting' and job.run_at > now() then 'delayed'
            when job.state = 'running' and job.lease_until < now() then 'lost'
            else job.state
       end as state,
       job.priority,
       job.attempts,
       job.max_attempts,
       job.result,
       job.chunks,
       job.embedded,
       job.error,
       job.worker,
       job.batch,
       job.path,
       job.size,
       job.created_at,
       job.run_at,
       job.started_at,
       job.finished_at,
       job.lease_until,
       job.namespace_id
  from ragpg.job
  join ragpg.namespace on namespace.id = job.namespace_id
 where ragpg.may_use_namespace(namespace.id);

comment on view ragpg.jobs is
$$What waits to be ingested, what runs, what was done lately, and what is in quarantine with its error.

  select id, source, attempts, error from ragpg.jobs where state = 'quarantined';
  select state, count(*) from ragpg.jobs group by state;

Jobs come from ragpg.enqueue(), `ragpg jobs add` and Python; `ragpg worker` does them.$$;
comment on column ragpg.jobs.source is 'Name of the document.';
comment on column ragpg.jobs.kind is 'text, file (read by the worker, at path) or delete.';
comment on column ragpg.jobs.state is
  'waiting; delayed (waiting, not before run_at); running; lost (its worker does not answer, another one takes it over); done; quarantined (failed max_attempts times).';
comment on column ragpg.jobs.priority is 'Higher goes first.';
comment on column ragpg.jobs.attempts is 'How often it was begun; attempts that were not its fault do not count.';
comment on column ragpg.jobs.result is 'Of a job that is done: stored, unchanged, empty, skipped or removed.';
comment on column ragpg.jobs.chunks is 'Chunks of the document, once it is done.';
comment on column ragpg.jobs.embedded is 'Texts embedded by the present or last attempt, as of the last heartbeat.';
comment on column ragpg.jobs.error is 'Why the last attempt failed.';
comment on column ragpg.jobs.worker is 'Host, process and thread that has it, or had it.';
comment on column ragpg.jobs.batch is 'Label given when it was enqueued; see ragpg.job_progress.';
comment on column ragpg.jobs.size is 'Bytes of the text or file.';
comment on column ragpg.jobs.run_at is 'Not begun before.';
comment on column ragpg.jobs.lease_until is 'When another worker may take it, unless its own one answers before.';
