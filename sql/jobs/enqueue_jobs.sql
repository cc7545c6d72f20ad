-- Sources in order, so that two that enqueue the same ones do not wait for each other in a circle.
create or replace function ragpg.enqueue_jobs(
  namespace text, jobs jsonb, priority integer default 0, delay interval default '0',
  max_attempts integer default 5, batch text default null, language text default 'english')
returns table (job_id bigint, source text, replaced boolean)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer;
  bad text;
begin
  if jsonb_typeof(jobs) is distinct from 'array' then
    raise exception 'jobs are a list, not %', coalesce(jsonb_typeof(jobs), 'null') using errcode = 'RG005',
      hint = 'As in [{"source": "a.md", "content": "..."}].';
  end if;
  perform ragpg.refuse_nulls(jsonb_build_object('priority', enqueue_jobs.priority, 'delay', enqueue_jobs.delay, 'max_attempts', enqueue_jobs.max_attempts));
  perform ragpg.require_allowed(enqueue_jobs.namespace);
  select namespace.id into owner from ragpg.namespace where namespace.name = enqueue_jobs.namespace;
  owner := coalesce(owner, ragpg.create_namespace(enqueue_jobs.namespace, language => enqueue_jobs.language));
  if owner is null then
    raise exception 'namespace "%" does not exist', enqueue_jobs.namespace using errcode = 'RG001',
      hint = 'List them with: select name from ragpg.namespaces';
  end if;
  select given.value::text into bad from jsonb_array_elements(jobs) as given (value)
   where coalesce(given.value ->> 'source', '') ~ '^[[:space:]]*$'
      or case coalesce(given.value ->> 'kind', 'text')
           when 'text' then given.value ->> 'content' is null
           when 'file' then given.value ->> 'path' is null or given.value ->> 'root' is null
           when 'delete' then false
           else true
         end
   limit 1;
  if bad is not null then
    raise exception 'a job cannot be read: %', left(bad, 200) using errcode = 'RG005',
      hint = 'A job has a source, and content (kind text), path and root (kind file) or neither (kind delete).';
  end if;
  if max_attempts < 1 then
    raise exception 'max_attempts must be at least 1, not %', max_attempts using errcode = 'RG005',
      hint = 'Leave it out for the default.';
  end if;

  -- What is said anew needs no repair.
  delete from ragpg.job
   using jsonb_array_elements(jobs) as given (value)
   where job.namespace_id = owner and job.source = given.value ->> 'source' and job.state = 'quarantined';
  return query
  with given as (
    select distinct on (told.value ->> 'source') told.value as facts
      from jsonb_array_elements(jobs) with ordinality as told (value, place)
     order by told.value ->> 'source', told.place desc
  ), written as (
    insert into ragpg.job as job (namespace_id, source, kind, path, root, follow_links, content, title, format,
                                  metadata, size, batch, priority, max_attempts, run_at)
    select owner, facts ->> 'source', coalesce(facts ->> 'kind', 'text'), facts ->> 'path', facts ->> 'root',
           coalesce((facts ->> 'follow_links')::boolean, false), facts ->> 'content', facts ->> 'title',
           facts ->> 'format', coalesce(nullif(facts -> 'metadata', 'null'), '{}'),
           coalesce((facts ->> 'size')::bigint, octet_length(facts ->> 'content'), 0),
           enqueue_jobs.batch, enqueue_jobs.priority, enqueue_jobs.max_attempts, now() + enqueue_jobs.delay
      from given
     order by facts ->> 'source'
    on conflict (namespace_id, source) where state = 'waiting' do update
      set kind = excluded.kind, path = excluded.path, root = excluded.root, follow_links = excluded.follow_links,
          content = excluded.content, title = excluded.title, format = excluded.format, metadata = excluded.metadata,
          size = excluded.size, batch = excluded.batch, priority = greatest(job.priority, excluded.priority),
          max_attempts = excluded.max_attempts, run_at = excluded.run_at, attempts = 0, error = null
    returning job.id, job.source, job.xmax <> 0
  )
  select * from written;
  perform pg_catalog.pg_notify('ragpg_jobs', '');
end $$;

comment on function ragpg.enqueue_jobs(text, jsonb, integer, interval, integer, text, text) is
$$Puts many jobs into the queue; their ids, and whether a job of the same source that still waited
gave way. ragpg.enqueue() is for one text.

  select * from ragpg.enqueue_jobs('handbook',
    '[{"source": "refunds", "content": "Refunds take 14 days."}, {"source": "old", "kind": "delete"}]');

jobs          objects with source; kind: text (content, and title, format, metadata), file (path and
              root, as the workers see them; follow_links, metadata) or delete
priority      higher goes first
delay         not before so much time has passed
max_attempts  after so many failures a job is put into quarantine
batch         a label, to see the progress of these jobs in ragpg.job_progress
language      of a namespace that is not there yet$$;
