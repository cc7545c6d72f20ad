-- Which links the coming or going of a document can change: those whose path is the end of its own.
create or replace function ragpg.resolve_links(namespace_id integer, documents bigint[] default null, paths text[] default null)
returns bigint
language plpgsql
set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  owner integer := resolve_links.namespace_id;
  one record;
  found bigint[];
  written bigint := 0;
begin
  -- Link by link: a join would have to guess how many there are, and has guessed wrong. Offset 0
  -- keeps the order of the steps.
  for one in
    select wanted.* from (
      select link.* from unnest(documents) as given (id)
       cross join lateral (select * from ragpg.link as near
                            where near.namespace_id = owner and near.document_id = given.id offset 0) as link
       where paths is null and documents is not null
       union all
      select link.* from ragpg.link where link.namespace_id = owner and paths is null and documents is null
       union all
      select link.*
        from (select distinct array_to_string(part.words[start.at:], '/') collate "C" as path
                from (select string_to_array(given.path, '/') as words from unnest(paths) as given (path)) as part,
                     generate_series(1, cardinality(part.words)) as start (at)) as ending
       cross join lateral (select * from ragpg.link as near
                            where near.namespace_id = owner and left(near.path, 600) = left(ending.path, 600) offset 0) as link
       where link.path = ending.path
    ) as wanted
     -- Most links to other sites lead nowhere here, and did so before: the index says so.
     where not (wanted.matches = 0 and wanted.target_id is null and wanted.target ~ '^[A-Za-z][A-Za-z0-9+.-]*:')
        or exists (select from unnest(array[owner]) as mine (id)
                    cross join lateral (select from ragpg.document as aim
                                         where aim.namespace_id = mine.id and aim.source = wanted.target offset 0) as known)
        or wanted.path <> ''
           and exists (select from unnest(array[owner]) as mine (id)
                        cross join lateral (select from ragpg.document as aim
                                             where aim.namespace_id = mine.id
                                               and left(reverse(aim.path), 600) = left(reverse(wanted.path) collate "C", 600)
                                               and aim.path = wanted.path offset 0) as known)
  loop
    found := ragpg.link_matches(owner, one.target, one.path);
    if (one.target_id, one.matches)
       is distinct from (case cardinality(found) when 1 then found[1] end, cardinality(found)) then
      update ragpg.link
         set target_id = case cardinality(found) when 1 then found[1] end, matches = cardinality(found)
       where link.namespace_id = owner and link.document_id = one.document_id
         and link.target = one.target and link.anchor = one.anchor;
      written := written + 1;
    end if;
  end loop;
  return written;
end $$;

comment on function ragpg.resolve_links(integer, bigint[], text[]) is
$$Finds the documents that links lead to; returns how many links have changed.

  select ragpg.resolve_links(1);

documents  only the links of these documents
paths      only links that documents of these paths could be the target of

Afterwards link.target_id is the document, and link.matches says how many it may be: 0 none, 1 this
one, 2 several, which is why none was taken. Storing and deleting documents calls it.$$;
