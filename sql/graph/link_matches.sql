-- What a link may mean, best first: the very source; else documents whose path is the same without
-- capitals, ending and front page; else those that have it below some folder, which is where a
-- site's root lies. Two are enough to know that it is ambiguous.
create or replace function ragpg.link_matches(namespace_id integer, target text, path text)
returns bigint[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := link_matches.namespace_id;
  backwards text := reverse(link_matches.path) collate "C";
  found bigint[];
begin
  found := array(select document.id from ragpg.document
                  where document.namespace_id = owner and document.source = link_matches.target);
  if cardinality(found) = 0 and backwards <> '' then
    found := array(select document.id from ragpg.document
                    where document.namespace_id = owner and left(reverse(document.path), 600) = left(backwards, 600)
                      and document.path = link_matches.path
                    order by document.id limit 2);
    if cardinality(found) = 0 and length(backwards) < 590 and target !~ '^[A-Za-z][A-Za-z0-9+.-]*://' then
      -- '0' follows '/' in the order of characters.
      found := array(select document.id from ragpg.document
                      where document.namespace_id = owner
                        and left(reverse(document.path), 600) >= backwards || '/'
                        and left(reverse(document.path), 600) < backwards || '0'
                      order by document.id limit 2);
    end if;
  end if;
  return found;
end $$;

comment on function ragpg.link_matches(integer, text, text) is
$$The documents that a link may lead to: none, the one, or two where it is ambiguous.

  select ragpg.link_matches(1, 'guide/install', 'guide/install');$$;
