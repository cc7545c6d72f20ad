-- Which links the coming or going of a document can change: those whose path is the end of its own.
create or replace function ragpg.resolve_links(namespace_id integer, documents bigint[] default null, paths text[] default null)
returns bigint
language plpgsql
set search_path from current
set enable_seqscan = off
set enable_hashjoin = off
as $$
#variable_conflict use_column
declare
  owner integer := resolve_links.namespace_id;
  touched bigint[];
  written bigint;
begin
  if paths is null then
    touched := array(select link.id from ragpg.link
                      where link.namespace_id = owner and (documents is null or link.document_id = any (documents)));
  else
    touched := array(
      select link.id
        from (select distinct array_to_string(part.words[start.at:], '/') collate "C" as path
                from (select string_to_array(given.path, '/') as words from unnest(paths) as given (path)) as part,
                     generate_series(1, cardinality(part.words)) as start (at)) as ending
        join ragpg.link on link.namespace_id = owner and left(link.path, 600) = left(ending.path, 600)
       where link.path = ending.path);
  end if;
  if cardinality(touched) = 0 then
    return 0;
  end if;
  with answer as (
    select link.document_id, link.target, link.anchor,
           ragpg.link_matches(owner, link.target, link.path) as found
      from ragpg.link
     where link.namespace_id = owner and link.id = any (touched)
     offset 0
  )
  update ragpg.link
     set target_id = case cardinality(answer.found) when 1 then answer.found[1] end,
         matches = cardinality(answer.found)
    from answer
   where link.namespace_id = owner and link.document_id = answer.document_id
     and link.target = answer.target and link.anchor = answer.anchor
     and (link.target_id, link.matches)
         is distinct from (case cardinality(answer.found) when 1 then answer.found[1] end, cardinality(answer.found));
  get diagnostics written = row_count;
  return written;
end $$;

comment on function ragpg.resolve_links(integer, bigint[], text[]) is
$$Finds the documents that links lead to; returns how many links have changed.

  select ragpg.resolve_links(1);

documents  only the links of these documents
paths      only links that documents of these paths could be the target of

Afterwards link.target_id is the document, and link.matches says how many it may be: 0 none, 1 this
one, 2 several, which is why none was taken. Storing and deleting documents calls it.$$;
