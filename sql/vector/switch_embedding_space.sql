-- One row changes, so a search sees the one space or the other. Writers are kept out for that moment:
-- what they have committed is counted, and what they write next goes by the new row.
create or replace function ragpg.switch_embedding_space(namespace text, space_id integer, missing bigint default 0)
returns bigint
language plpgsql
set search_path from current
as $$
declare
  owner ragpg.namespace;
  lacking bigint;
begin
  perform ragpg.namespace_ids(array[switch_embedding_space.namespace]);
  select target.* into owner from ragpg.namespace as target where target.name = switch_embedding_space.namespace;
  if owner.space_id is not distinct from switch_embedding_space.space_id then
    return 0;
  elsif not exists (select from ragpg.namespace_space as kept
                     where kept.namespace_id = owner.id and kept.space_id = switch_embedding_space.space_id) then
    raise exception 'namespace "%" does not keep the embedding space %', switch_embedding_space.namespace, space_id
      using errcode = 'RG005', hint = 'Build it first: ragpg reembed NAMESPACE --embedder MODEL';
  end if;
  perform pg_advisory_xact_lock(hashtext('ragpg.namespace_space'), owner.id);
  select target.* into owner from ragpg.namespace as target where target.id = owner.id for no key update;
  if owner.space_id is null then
    lacking := 0;
  else
    execute format(
      'select count(*) from ragpg.embedding_%s as present
        where present.namespace_id = $1
          and not exists (select from ragpg.embedding_%s as wanted
                           where wanted.namespace_id = $1 and wanted.chunk_id = present.chunk_id)',
      owner.space_id, switch_embedding_space.space_id) into lacking using owner.id;
  end if;
  if lacking > missing then
    raise exception '% chunks of namespace "%" have no vector in embedding space %', lacking,
      switch_embedding_space.namespace, space_id using errcode = 'RG005',
      hint = format('Complete it: ragpg reembed NAMESPACE --embedder MODEL; or allow so many with missing => %s', lacking);
  end if;
  delete from ragpg.namespace_space as kept
   where kept.namespace_id = owner.id and kept.space_id = switch_embedding_space.space_id;
  insert into ragpg.namespace_space (namespace_id, space_id, state)
  select owner.id, owner.space_id, 'former' where owner.space_id is not null
  on conflict on constraint namespace_space_pkey do update set state = 'former', since = now();
  -- Documents that were stored with a former model are not changed for that: see ragpg.ingest.
  update ragpg.namespace as target
     set space_id = switch_embedding_space.space_id,
         settings = case when owner.space_id is null then target.settings else
           jsonb_set(target.settings, '{former_models}', (
             select jsonb_agg(distinct pair) from (
               select jsonb_array_elements(coalesce(target.settings -> 'former_models', '[]')) as pair
                union all
               select jsonb_build_array(space.model, space.dimensions) from ragpg.embedding_space as space
                where space.id = owner.space_id) as known)) end
   where target.id = owner.id;
  return lacking;
end $$;

comment on function ragpg.switch_embedding_space(text, integer, bigint) is
$$Makes a namespace search another embedding space that is complete, at once. The space of before is
kept and filled on, so that the same call takes it back.

  select ragpg.switch_embedding_space('handbook', 1);

Raises RG005 when more than `missing` chunks with a vector of before have none in the new space;
returns how many. Waits for transactions that are ingesting into the namespace.$$;
