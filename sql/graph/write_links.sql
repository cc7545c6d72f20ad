-- Links lead somewhere as soon as they are written.
create or replace function ragpg.write_links()
returns trigger
language plpgsql
set search_path from current
as $$
declare
  part record;
begin
  for part in select added.namespace_id, array_agg(distinct added.document_id) as documents from added group by 1 order by 1 loop
    perform ragpg.resolve_links(part.namespace_id, documents => part.documents);
  end loop;
  return null;
end $$;

comment on function ragpg.write_links() is
$$Trigger on ragpg.link: finds the documents that new links lead to.$$;

create or replace trigger write_links_insert after insert on ragpg.link
  referencing new table as added for each statement execute function ragpg.write_links();
