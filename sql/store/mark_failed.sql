-- What was searchable stays so; the next ingest tries again.
create or replace function ragpg.mark_failed(namespace text, source text, reason text)
returns void
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[namespace]))[1];
begin
  if coalesce(mark_failed.source, '') ~ '^[[:space:]]*$' then
    raise exception 'a document without a source cannot be marked' using errcode = 'RG005',
      hint = 'Name it as it was ingested.';
  end if;
  insert into ragpg.document as stored (namespace_id, source, status, error)
  values (owner, mark_failed.source, 'failed', left(reason, 2000))
  on conflict on constraint document_namespace_id_source_key do update set error = excluded.error;
end $$;

comment on function ragpg.mark_failed(text, text, text) is
$$Notes that a source could not be ingested. Chunks that it has from before stay searchable.

  select ragpg.mark_failed('handbook', 'scan.pdf', 'no text layer');$$;
