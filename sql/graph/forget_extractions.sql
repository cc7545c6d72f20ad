create or replace function ragpg.forget_extractions(namespace text, keep interval default '30 days')
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := (ragpg.namespace_ids(array[forget_extractions.namespace]))[1];
  forgotten bigint;
begin
  delete from ragpg.extraction_cache as old
   where old.namespace_id = owner and old.created_at < now() - keep
     and not exists (select from ragpg.chunk where chunk.namespace_id = owner and chunk.content_hash = old.hash);
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

comment on function ragpg.forget_extractions(text, interval) is
$$Deletes what models said of texts that no chunk holds any longer; returns of how many.

  select ragpg.forget_extractions('default', keep => '0 days');

keep  younger answers stay, for texts that come back. Every extraction forgets older ones than 30 days$$;
