-- The ways through the indexes are pinned: a queue grows and shrinks faster than its statistics. A
-- state with '' behind it keeps the small partial indexes out, where one row is looked up by its key.
create or replace function ragpg.claim_jobs(
  worker text, k integer default 16, lease interval default '60 seconds',
  folders text[] default '{}', except_namespaces text[] default '{}')
returns table (job_id bigint, namespace text, source text, kind text, path text, root text,
               follow_links boolean, content text, title text, format text, metadata jsonb, attempts integer)
language plpgsql
set search_path from current
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  lost record;
  head record;
  near bigint[];
  chosen bigint[];
  -- Policies do not bind the owner: what is closed to it is asked here, where anything is closed.
  limited constant boolean := exists (select 1 from ragpg.namespace_access)
    or coalesce(pg_catalog.current_setting('ragpg.allowed_namespaces', true), '') <> '';
  closed constant integer[] := array(select namespace.id from ragpg.namespace
                                      where limited and not ragpg.may_use_namespace(namespace.id));
  refused constant integer[] := closed || array(select namespace.id from ragpg.namespace
                                                 where namespace.name = any (except_namespaces));
begin
  -- Whoever dies holds no lock and renews no lease. One that had new embeddings to show for it has
  -- got somewhere: the next attempt goes on from there, so this one does not count.
  for lost in
    select job.id, job.worker, job.embedded from ragpg.job
     where job.state = 'running' and job.lease_until < clock_timestamp()
       and job.namespace_id <> all (closed)
     order by job.id limit 100 for update skip locked
  loop
    perform ragpg.requeue_job(lost.id, counts => lost.embedded = 0, delay => interval '0',
                              error => 'its worker ' || lost.worker || ' stopped answering');
  end loop;

  select job.id, job.namespace_id, job.attempts, job.size into head from ragpg.job
   where job.state = 'waiting' and job.run_at <= clock_timestamp()
     and (job.path is null or exists (select 1 from unnest(folders) as folder (name)
                                       where starts_with(job.path, rtrim(folder.name, '/') || '/')))
     and job.namespace_id <> all (refused)
     and not exists (select 1 from ragpg.job as busy
                      where busy.namespace_id = job.namespace_id and busy.source = job.source
                        and busy.state || '' = 'running')
   order by job.priority desc, job.id
   limit 1 for update skip locked;
  if head.id is null then
    return;
  end if;
  chosen := array[head.id];
  -- Fresh jobs of the namespace go along, as many as leave something for other workers. What has
  -- failed before goes alone: then it is known who did it.
  if k > 1 and head.attempts = 0 then
    near := array(
      select job.id from ragpg.job
       where job.state = 'waiting' and job.run_at <= clock_timestamp()
         and (job.path is null or exists (select 1 from unnest(folders) as folder (name)
                                           where starts_with(job.path, rtrim(folder.name, '/') || '/')))
         and job.namespace_id = head.namespace_id and job.attempts = 0 and job.id <> head.id
         and not exists (select 1 from ragpg.job as busy
                          where busy.namespace_id = job.namespace_id and busy.source = job.source
                            and busy.state || '' = 'running')
       order by job.priority desc, job.id
       limit 8 * k);
    -- One by one in that order, until there are enough.
    select chosen || coalesce(array_agg(fitting.id), '{}') into chosen
      from (select locked.id, sum(locked.size) over (order by locked.place) as total
              from (select free.id, free.size, next.place
                      from unnest(near) with ordinality as next (id, place),
                           lateral (select job.id, job.size from ragpg.job
                                     where job.id = next.id and job.state || '' = 'waiting'
                                       for update skip locked) as free
                     limit least(k - 1, cardinality(near) / 8)) as locked) as fitting
     where head.size + fitting.total <= 4000000;
  end if;
  return query
  with taken as (
    update ragpg.job
       set state = 'running', attempts = job.attempts + 1, worker = claim_jobs.worker, embedded = 0,
           started_at = clock_timestamp(), lease_until = clock_timestamp() + lease, result = null
     where job.id = any (chosen)
    returning job.*
  )
  select taken.id, namespace.name, taken.source, taken.kind, taken.path, taken.root, taken.follow_links,
         taken.content, taken.title, taken.format, taken.metadata, taken.attempts
    from taken join ragpg.namespace on namespace.id = taken.namespace_id
   order by taken.priority desc, taken.id;
end $$;

comment on function ragpg.claim_jobs(text, integer, interval, text[], text[]) is
$$Gives a worker its next jobs, of one namespace, highest priority and longest wait first. They are
its own until the lease runs out: renew it with ragpg.extend_jobs(), end them with
ragpg.finish_jobs(), ragpg.fail_job() or ragpg.release_jobs(). Jobs whose lease ran out wait again.

  select job_id, source, attempts from ragpg.claim_jobs('me', lease => '5 minutes');

worker             a name that no other worker has: whoever says it may end these jobs
k                  at most so many, and never more than an eighth of what waits, but one
folders            only files below these are taken; texts always
except_namespaces  jobs of these are left to other workers$$;
