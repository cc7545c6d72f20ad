-- Called after the text is stored. The rows are locked in the order of documents, so that two
-- sessions that remember at once do not wait for each other in a circle.
create or replace function ragpg.note_memory(
  namespace text, source text, key text default null, supersedes text[] default '{}')
returns boolean
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[note_memory.namespace]))[1];
  noted bigint;
  is_new boolean;
begin
  select document.id into noted from ragpg.document
   where document.namespace_id = owner and document.source = note_memory.source;
  if noted is null then
    raise exception 'nothing of source "%" is stored in namespace "%"', note_memory.source, note_memory.namespace
      using errcode = 'RG005', hint = 'Store the text first.';
  end if;
  perform 1 from ragpg.document
    where document.namespace_id = owner and document.source = any (supersedes || note_memory.source)
    order by document.source for no key update;
  insert into ragpg.memory (namespace_id, document_id, key) values (owner, noted, note_memory.key)
  on conflict (namespace_id, document_id) do update
    set last_seen_at = now(), seen = memory.seen + 1, superseded_by = null, superseded_at = null,
        key = coalesce(excluded.key, memory.key)
  returning seen = 1 into is_new;
  -- A text that was stored by other means has no row yet.
  insert into ragpg.memory (namespace_id, document_id, remembered_at, last_seen_at)
  select owner, document.id, document.created_at, document.created_at from ragpg.document
   where document.namespace_id = owner and document.source = any (supersedes)
  on conflict do nothing;
  update ragpg.memory set superseded_by = noted, superseded_at = now()
    from ragpg.document
   where memory.namespace_id = owner and memory.document_id <> noted
     and document.namespace_id = owner and document.id = memory.document_id
     and (document.source = any (supersedes) or memory.key = note_memory.key)
     and memory.superseded_by is null;
  return is_new;
end $$;

comment on function ragpg.note_memory(text, text, text, text[]) is
$$Notes that a stored text was remembered now; true for the first time.

  select ragpg.note_memory('handbook', 'refund.md', key => 'refunds', supersedes => '{}');

key         a text with the same key takes the place of the one before
supersedes  sources of older texts that this one contradicts: they are kept, and no longer current$$;
