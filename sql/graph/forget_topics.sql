-- A name that is nobody's title any longer keeps what extractors found; mentions of it as a title go.
create or replace function ragpg.forget_topics(namespace_id integer, titles text[])
returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := forget_topics.namespace_id;
  untitled bigint[];
begin
  untitled := array(
    select entity.id
      from (select distinct named.key from unnest(titles) as former (title), ragpg.title_keys(former.title) as named (key)) as former
      join ragpg.entity on entity.namespace_id = owner and entity.key = former.key
     where not exists (select from ragpg.topic where topic.namespace_id = owner and topic.entity_id = entity.id));
  if cardinality(untitled) = 0 then
    return;
  end if;
  delete from ragpg.mention
   where mention.namespace_id = owner and mention.entity_id = any (untitled) and mention.origin = 'titles';
  delete from ragpg.phrase where phrase.namespace_id = owner and phrase.entity_id = any (untitled);
  perform ragpg.remove_orphans(owner, untitled);
end $$;

comment on function ragpg.forget_topics(integer, text[]) is
$$Forgets titles that no document has any longer.

  select ragpg.forget_topics(1, '{Refund policy}');

A trigger on ragpg.document calls it.$$;
