-- Called after a text was noted, by sessions that may have noted contradicting ones at the same time:
-- each comes here after its own note, so the later of two sees both, and the newer text stays.
create or replace function ragpg.supersede_memories(namespace text, source text, others text[])
returns setof text
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[supersede_memories.namespace]))[1];
begin
  -- In the order of note_memory(), so that nobody waits in a circle.
  perform 1 from ragpg.document
    where document.namespace_id = owner and document.source = any (others || supersede_memories.source)
    order by document.source for no key update;
  -- A text that was stored by other means has no row yet.
  insert into ragpg.memory (namespace_id, document_id, remembered_at, last_seen_at)
  select owner, document.id, document.created_at, document.created_at from ragpg.document
   where document.namespace_id = owner and document.source = any (others)
  on conflict do nothing;
  return query
  with known as (
    select memory.document_id, document.source, memory.last_seen_at,
           document.source = supersede_memories.source as mine
      from ragpg.memory
      join ragpg.document on document.namespace_id = memory.namespace_id and document.id = memory.document_id
     where memory.namespace_id = owner and memory.superseded_by is null
       and document.source = any (others || supersede_memories.source)),
  newest as (
    select known.document_id from known
     where exists (select 1 from known as me where me.mine)
     order by known.last_seen_at desc, known.mine desc, known.source collate "C" limit 1),
  demoted as (
    update ragpg.memory set superseded_by = newest.document_id, superseded_at = now()
      from newest
     where memory.namespace_id = owner and memory.document_id <> newest.document_id
       and memory.document_id in (select known.document_id from known)
       -- What contradicts a text need not contradict the others that do.
       and (newest.document_id in (select known.document_id from known where known.mine)
            or memory.document_id in (select known.document_id from known where known.mine))
    returning memory.document_id)
  select known.source from known join demoted on demoted.document_id = known.document_id
   order by known.source collate "C";
end $$;

comment on function ragpg.supersede_memories(text, text, text[]) is
$$Notes that a memory contradicts others: of it and them the one that was told last stays current. The
sources that are no longer current.

  select ragpg.supersede_memories('handbook', 'refund.md', '{old-refund.md}');$$;
