-- A text that is asked often is folded once. Own titles and texts are asked for as ragpg.find_titles() does.
create or replace function ragpg.check_titles(namespace_id integer, chunks bigint[], entities bigint[], keys text[])
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := check_titles.namespace_id;
  named_chunks bigint[];
  named_entities bigint[];
begin
  if check_titles.chunks is null then
    return 0;
  end if;
  select array_agg(named.chunk_id), array_agg(named.entity_id) into named_chunks, named_entities
    from (select content.id as chunk_id, hint.entity_id, ragpg.is_named(content.folded, hint.key) as is_named
            from (select chunk.id, chunk.document_id, ragpg.fold_text(left(chunk.content, 20000)) as folded
                    from ragpg.chunk
                   where chunk.namespace_id = owner and chunk.id = any (check_titles.chunks)
                  offset 0) as content
            join unnest(check_titles.chunks, check_titles.entities, check_titles.keys) as hint (chunk_id, entity_id, key)
              on hint.chunk_id = content.id
           where not exists (select from ragpg.topic where topic.namespace_id = owner
                                and topic.document_id = content.document_id and topic.entity_id = hint.entity_id offset 0)
          offset 0) as named
   where named.is_named;
  return case when named_chunks is null then 0 else ragpg.note_titles(owner, named_chunks, named_entities) end;
end $$;

comment on function ragpg.check_titles(integer, bigint[], bigint[], text[]) is
$$Stores which chunks mention titles of which they have all words, side by side; part of
ragpg.find_few_titles() and ragpg.find_mentions(). Returns how many mentions are new.

  select ragpg.check_titles(1, '{17}', '{4}', '{the birds}');

keys  of the entities, as ragpg.is_named() takes them

A document's own title is no mention in it.$$;
