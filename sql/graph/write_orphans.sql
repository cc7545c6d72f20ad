-- Entities whose last mention went with a chunk go with it. Titles are looked after by their
-- documents, so a row of theirs need not be asked about.
create or replace function ragpg.write_orphans()
returns trigger
language plpgsql
set search_path from current
as $$
declare
  part record;
begin
  for part in select removed.namespace_id, array_agg(distinct removed.entity_id) as entities
                from removed where removed.origin <> 'titles' group by 1 order by 1 loop
    perform ragpg.remove_orphans(part.namespace_id, part.entities);
  end loop;
  return null;
end $$;

comment on function ragpg.write_orphans() is
$$Trigger on ragpg.mention: removes the entities that nothing mentions any longer.$$;

create or replace trigger write_orphans_delete after delete on ragpg.mention
  referencing old table as removed for each statement execute function ragpg.write_orphans();
