-- Which links the coming or going of a document can change: those whose path is the end of its own.
-- What a link may mean, best first: the very source; else documents whose path is the same without
-- capitals, ending and front page; else those that have it below some folder, which is where a site's
-- root lies. Two are enough to know that it is ambiguous.
create or replace function ragpg.resolve_links(namespace_id integer, documents bigint[] default null, paths text[] default null)
returns bigint
language plpgsql
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- Only where a step looks up rows by index, which has no other way.
set enable_nestloop = off
-- As they are anyhow: named here so that what is set below ends with the function.
set enable_hashjoin = on
set enable_mergejoin = on
set jit = off
set max_parallel_workers_per_gather = 0
as $$
#variable_conflict use_column
declare
  owner integer := resolve_links.namespace_id;
  changed_documents bigint[];
  changed_targets text[];
  changed_anchors text[];
  found_ids bigint[];
  found_matches smallint[];
  standing bigint[];
  places tid[];
  written bigint;
begin
  -- Many pages have the same links, so each target is looked up once. Offset 0 keeps the order of the
  -- steps; a join would have to guess how many links there are, and has guessed wrong.
  with wanted as materialized (
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
  ), source as (
    select aim.target, aim.path, reverse(aim.path) collate "C" as backwards,
           array(select document.id from ragpg.document
                  where document.namespace_id = owner and document.source = aim.target) as found
      from (select distinct wanted.target, wanted.path from wanted) as aim
    offset 0
  ), same as (
    select source.target, source.path, source.backwards,
           case when cardinality(source.found) > 0 or source.path = '' then source.found
                else array(select document.id from ragpg.document
                            where document.namespace_id = owner and left(reverse(document.path), 600) = left(source.backwards, 600)
                              and document.path = source.path
                            order by document.id limit 2) end as found
      from source
    offset 0
  ), below as (
    -- '0' follows '/' in the order of characters.
    select same.target,
           case when cardinality(same.found) > 0 or same.path = '' or length(same.path) >= 590
                     or same.target ~ '^[A-Za-z][A-Za-z0-9+.-]*://' then same.found
                else array(select document.id from ragpg.document
                            where document.namespace_id = owner
                              and left(reverse(document.path), 600) >= same.backwards || '/'
                              and left(reverse(document.path), 600) < same.backwards || '0'
                            -- In the order of this index, so that no other is taken.
                            order by left(reverse(document.path), 600) limit 2) end as found
      from same
    offset 0
  ), answer as (
    select below.target, cardinality(below.found) as matches, case cardinality(below.found) when 1 then below.found[1] end as target_id
      from below
  )
  select array_agg(one.document_id), array_agg(one.target), array_agg(one.anchor), array_agg(one.target_id), array_agg(one.matches)
    into changed_documents, changed_targets, changed_anchors, found_ids, found_matches
    from (select wanted.document_id, wanted.target, wanted.anchor, answer.target_id, answer.matches::smallint as matches
            from wanted join answer using (target)
           where (wanted.target_id, wanted.matches) is distinct from (answer.target_id, answer.matches::smallint)
           order by 1, 2, 3) as one;
  if changed_documents is null then
    return 0;
  end if;
  -- Whoever deletes a target meanwhile is waited for; then its links lead nowhere, as before.
  standing := array(
    select document.id from ragpg.document
     where document.namespace_id = owner
       and document.id = any (array(select distinct given.id from unnest(found_ids) as given (id) where given.id is not null))
     order by document.source for key share);
  -- Each row by its key, then all by where they are: a join of links with what has changed, planned when a
  -- namespace had few links, has compared all of one with all of the other. Locked first, no row moves.
  perform set_config('enable_nestloop', 'on', true), set_config('enable_hashjoin', 'off', true),
          set_config('enable_mergejoin', 'off', true);
  select array_agg(here.place), array_agg(one.target_id), array_agg(one.matches)
    into places, found_ids, found_matches
    from unnest(changed_documents, changed_targets, changed_anchors, found_ids, found_matches)
         as one (document_id, target, anchor, target_id, matches)
   cross join lateral (select link.ctid as place from ragpg.link
                        where link.namespace_id = owner and link.document_id = one.document_id
                          and link.target = one.target and link.anchor = one.anchor
                          for no key update) as here
     -- A sub-select is hashed, an array is not.
   where one.target_id is null or one.target_id in (select still.id from unnest(standing) as still (id));
  update ragpg.link set target_id = one.target_id, matches = one.matches
    from unnest(places, found_ids, found_matches) as one (place, target_id, matches)
   where link.ctid = one.place;
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
