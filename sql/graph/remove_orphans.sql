-- Locked first and judged after: another writer's new mention is seen, or its entity is left to it.
create or replace function ragpg.remove_orphans(namespace_id integer, entities bigint[] default null)
returns bigint
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  owner integer := remove_orphans.namespace_id;
  suspects bigint[];
  removed bigint;
begin
  suspects := array(
    select entity.id from ragpg.entity
     where entity.namespace_id = owner
       and entity.id = any (coalesce(entities, array(select every.id from ragpg.entity as every where every.namespace_id = owner)))
       -- Offset 0: asked one by one, by index, whatever the planner has heard of these tables.
       and not exists (select from ragpg.mention where mention.namespace_id = owner and mention.entity_id = entity.id offset 0)
       and not exists (select from ragpg.topic where topic.namespace_id = owner and topic.entity_id = entity.id offset 0)
     order by entity.id for update skip locked);
  if cardinality(suspects) = 0 then
    return 0;
  end if;
  delete from ragpg.entity
   where entity.namespace_id = owner and entity.id = any (suspects)
     and not exists (select from ragpg.mention where mention.namespace_id = owner and mention.entity_id = entity.id offset 0)
     and not exists (select from ragpg.topic where topic.namespace_id = owner and topic.entity_id = entity.id offset 0)
     and not exists (select from ragpg.relation where relation.namespace_id = owner and relation.source = entity.id offset 0)
     and not exists (select from ragpg.relation where relation.namespace_id = owner and relation.target = entity.id offset 0);
  get diagnostics removed = row_count;
  return removed;
end $$;

comment on function ragpg.remove_orphans(integer, bigint[]) is
$$Deletes entities that no chunk mentions, no title names and no relation joins; returns how many.

  select ragpg.remove_orphans(1);

Deleting and changing documents calls it. Two writers who remove the last two mentions at one time
leave the entity; the next analysis takes it away.

entities  only these ids; null for all of the namespace$$;
