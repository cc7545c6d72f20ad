create or replace function ragpg.keeps_sentences(namespace text)
returns boolean
language sql stable
set search_path from current
begin atomic
  select coalesce(bool_or(kept.settings ->> 'sentences' = 'true'), false)
    from ragpg.namespace as kept
   where kept.id = any (ragpg.namespace_ids(array[keeps_sentences.namespace]));
end;

comment on function ragpg.keeps_sentences(text) is
$$Whether ingestion keeps the sentence vectors of a namespace complete; see ragpg.keep_sentences.

  select ragpg.keeps_sentences('handbook');$$;
