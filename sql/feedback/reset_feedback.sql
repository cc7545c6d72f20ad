create or replace function ragpg.reset_feedback(namespace text, sources text[] default null)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  owner integer := (ragpg.namespace_ids(array[reset_feedback.namespace]))[1];
  gone bigint;
begin
  delete from ragpg.feedback
   where feedback.namespace_id = owner
     and (sources is null
          or feedback.chunk_id in (
             select chunk.id from ragpg.chunk
               join ragpg.document on document.namespace_id = owner and document.id = chunk.document_id
              where chunk.namespace_id = owner and document.source = any (sources)));
  get diagnostics gone = row_count;
  if sources is null then
    delete from ragpg.feedback_rank where feedback_rank.namespace_id = owner;
  end if;
  return gone;
end $$;

comment on function ragpg.reset_feedback(text, text[]) is
$$Forgets the feedback of a namespace, or of some sources in it; returns how many rows that were.

  select ragpg.reset_feedback('handbook', '{refund.md}');

How often a rank is followed in general is forgotten with the whole namespace only: it says nothing
of any passage.$$;
