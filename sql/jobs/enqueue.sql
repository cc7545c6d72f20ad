create or replace function ragpg.enqueue(
  source text, content text, namespace text default 'default', title text default null,
  format text default null, metadata jsonb default '{}', priority integer default 0,
  delay interval default '0', max_attempts integer default 5, batch text default null,
  language text default 'english')
returns bigint
language sql
set search_path from current
begin atomic
  select job_id
    from ragpg.enqueue_jobs(
           enqueue.namespace,
           pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object(
             'source', enqueue.source, 'content', enqueue.content, 'title', enqueue.title,
             'format', enqueue.format, 'metadata', enqueue.metadata)),
           priority => enqueue.priority, delay => enqueue.delay, max_attempts => enqueue.max_attempts,
           batch => enqueue.batch, language => enqueue.language);
end;

comment on function ragpg.enqueue(text, text, text, text, text, jsonb, integer, interval, integer, text, text) is
$$Puts a text into the queue, where a worker (`ragpg worker`) cuts, embeds and stores it; the id of
the job.

  select ragpg.enqueue('refunds.md', 'Refunds take 14 days.', namespace => 'handbook');
  select ragpg.enqueue(relname, obj_description(oid), metadata => '{"from": "catalog"}')
    from pg_class where obj_description(oid) <> '' limit 3;

source    the name of the document: its next text replaces this one
format    text, markdown, html, ...; else the ending of the source says it
priority  higher goes first
delay     not before so much time has passed
batch     a label, to see the progress of these jobs in ragpg.job_progress

A job of the same source that still waits gives way. See ragpg.jobs for what became of it.$$;
