-- Vectors that a search stores by the way are no promise: only this is.
create or replace function ragpg.keep_sentences(namespace text, keep boolean default true)
returns boolean
language plpgsql
set search_path from current
as $$
declare
  ids constant integer[] := ragpg.namespace_ids(array[keep_sentences.namespace]);
begin
  perform ragpg.refuse_nulls(jsonb_build_object('keep', keep));
  perform ragpg.require_right('ragpg.namespace', 'update');
  update ragpg.namespace as target
     set settings = case when keep then target.settings || '{"sentences": true}' else target.settings - 'sentences' end
   where target.id = any (ids) and coalesce(target.settings ->> 'sentences' = 'true', false) is distinct from keep;
  return keep;
end $$;

comment on function ragpg.keep_sentences(text, boolean) is
$$Whether ingestion shall keep the sentence vectors of a namespace complete; `ragpg sentences` says so.

  select ragpg.keep_sentences('handbook');
  select ragpg.keep_sentences('handbook', false);   -- what is stored stays, new chunks get none$$;
